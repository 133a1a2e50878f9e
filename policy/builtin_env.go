// SPDX-License-Identifier: Apache-2.0

package policy

// The variables that the built-in policies pass. None of them may carry a
// credential, or lead to a service outside the sandbox. So there is, among
// others, no *_PROXY, GOPROXY or PIP_INDEX_URL (they hold passwords), no
// MAKEFLAGS (it holds the variables of an outer make's command line, and
// descriptors which the command does not get), no MAVEN_OPTS or
// JAVA_TOOL_OPTIONS (-Dpassword=...), no NODE_OPTIONS and LD_* (they load
// code, from files that are closed), no SSH_AUTH_SOCK, DBUS_*, DISPLAY or
// XDG_RUNTIME_DIR (sockets).

// callerEnv says who and where the caller is. EDITOR and PAGER are left out:
// a command of an agent has nobody to wait for.
var callerEnv = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "PATH",
	"TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
	"CI",
}

var localeEnv = []string{"LANG", "LANGUAGE", "LC_*", "LOCALE_ARCHIVE", "TZ", "TZDIR", "SOURCE_DATE_EPOCH"}

// toolEnv says where tool chains are, and for which target they build.
var toolEnv = []string{
	"GOROOT", "GOPATH", "GOMODCACHE", "GOBIN", "GOFLAGS", "GOTOOLCHAIN", "GOWORK", "GOOS", "GOARCH", "GOAMD64", "GOARM64",
	"GOEXPERIMENT", "CGO_ENABLED",
	"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUST_BACKTRACE",
	"JAVA_HOME", "JDK_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "SDKMAN_DIR", "DOTNET_ROOT",
	"NVM_DIR", "NVM_BIN", "NODE_PATH", "NODE_ENV", "VOLTA_HOME", "FNM_DIR", "PNPM_HOME", "BUN_INSTALL", "DENO_INSTALL",
	"PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONPATH", "PYTHONHASHSEED",
	"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONUTF8",
	"RBENV_ROOT", "RBENV_VERSION", "GEM_HOME", "GEM_PATH", "PERL5LIB", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
	"CC", "CXX", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "CMAKE_GENERATOR",
	"CPATH", "LIBRARY_PATH",
	// Where the certificates are, not the keys.
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NIX_SSL_CERT_FILE",
	// Who commits; GIT_* as a whole can hold headers with tokens.
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
}
