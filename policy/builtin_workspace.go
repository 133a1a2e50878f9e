// SPDX-License-Identifier: Apache-2.0

package policy

// The tables of the built-in policy "workspace": what it opens in the home,
// for reading only. Nothing in the home is writable, so that a command cannot
// change what the user runs later outside the sandbox: not the caches of
// compilers, not ~/.local/bin. Single files and inner folders are listed
// where a credential lies beside them; a comment names it.

// gitPaths are what git needs: it stops if it cannot read its configuration.
var gitPaths = []string{
	"~/.gitconfig", "~/.gitignore", "~/.gitignore_global",
	// Not the folder: git-credential-store(1) keeps "credentials" in it.
	"~/.config/git/config", "~/.config/git/ignore", "~/.config/git/attributes",
}

// homeTools are tool chains, and packages that they have fetched.
//
// Left out are the start files of shells (~/.profile, ~/.bashrc and the
// like): people export tokens in them. A login shell says so and goes on.
var homeTools = []string{
	// Programs and libraries that the user has installed for himself.
	"~/.local/bin", "~/.local/lib", "~/.local/share/pipx", "~/bin",
	// Not ~/.local/share/uv: credentials.
	"~/.local/share/uv/python", "~/.local/share/uv/tools",
	"~/go/bin", "~/go/pkg/mod", "~/sdk",
	// Not ~/.cargo: credentials.toml. Cargo stops if it cannot read config.toml;
	// its manual wants tokens in the former.
	"~/.cargo/bin", "~/.cargo/env", "~/.cargo/config", "~/.cargo/config.toml",
	"~/.cargo/registry", "~/.cargo/git", "~/.rustup",
	// Not ~/.npmrc, ~/.yarnrc.yml: tokens.
	"~/.nvm", "~/.volta", "~/.fnm", "~/.local/share/fnm", "~/.local/share/pnpm",
	"~/.npm-global/bin", "~/.npm-global/lib", "~/.bun/bin", "~/.deno/bin",
	// Not ~/.pypirc: a token. Conda's folders are in condaPaths.
	"~/.pyenv",
	// Not ~/.gem, ~/.local/share/gem: credentials.
	"~/.rbenv", "~/.gem/ruby", "~/.local/share/gem/ruby",
	// Not ~/.m2: settings.xml. Not ~/.gradle: gradle.properties.
	"~/.m2/repository", "~/.m2/wrapper", "~/.gradle/wrapper", "~/.gradle/caches", "~/.sdkman",
	// Not ~/.nuget: NuGet.Config. Not ~/.dotnet: corefx has private keys.
	"~/.dotnet/dotnet", "~/.dotnet/host", "~/.dotnet/packs", "~/.dotnet/sdk", "~/.dotnet/shared",
	"~/.dotnet/templates", "~/.dotnet/tools", "~/.nuget/packages",
	// Not ~/.composer: auth.json. Not ~/.hex: hex.config.
	"~/.composer/vendor", "~/.config/composer/vendor", "~/.hex/packages", "~/.mix/archives", "~/.mix/elixir",
	"~/.opam", "~/.ghcup/bin", "~/.ghcup/ghc", "~/.cabal/packages", "~/.cabal/store", "~/perl5",
	"~/Android/Sdk", "~/.asdf", "~/.tool-versions",
	"~/.local/share/mise/installs", "~/.local/share/mise/shims", "~/.terminfo",
}

// condaPaths are the parts of a Conda installation. Not the whole folder: it
// may have a .condarc, with tokens.
func condaPaths() []string {
	var paths []string
	for _, root := range []string{"~/miniconda3", "~/miniforge3", "~/anaconda3"} {
		for _, part := range []string{"bin", "condabin", "conda-meta", "envs", "etc/profile.d", "include", "lib", "libexec", "pkgs", "share", "ssl"} {
			paths = append(paths, root+"/"+part)
		}
	}
	return paths
}

// scratchEnv moves caches and temporary files from places that are closed to
// the private temporary folder, which TMPDIR names. Values of a built-in
// policy may hold variables; those of other policies are taken as they are.
func scratchEnv() map[string]string {
	return map[string]string{
		// Go, pip, ccache, Yarn, Deno, uv and many others follow it.
		"XDG_CACHE_HOME": "${TMPDIR}/cache",
		// npm does not, and keeps its logs there as well.
		"npm_config_cache": "${TMPDIR}/cache/npm",
		// Java has /tmp built in and ignores TMPDIR. The price is a line on
		// stderr for each start of a virtual machine.
		"JAVA_TOOL_OPTIONS": "-Djava.io.tmpdir=${TMPDIR}",
	}
}
