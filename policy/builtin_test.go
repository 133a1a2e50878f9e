// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keepClosed are places of credentials and of what is executed later outside
// the sandbox. No built-in policy may open one of them, be it by naming a
// folder above it.
var keepClosed = []string{
	// The host's and its services'.
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d/x",
	"/etc/security/opasswd", "/etc/krb5.keytab", "/etc/ssh/ssh_host_ed25519_key", "/etc/ssl/private/x.key",
	"/etc/pki/tls/private/x.key", "/etc/letsencrypt/live/x/privkey.pem", "/etc/environment", "/etc/npmrc", "/etc/pip.conf",
	"/etc/maven/settings.xml", "/etc/fstab", "/etc/machine-id", "/etc/docker/daemon.json", "/etc/rancher/k3s/k3s.yaml",
	"/etc/kubernetes/admin.conf", "/etc/apt/auth.conf.d/x", "/etc/wpa_supplicant/x", "/etc/NetworkManager/system-connections/x",
	"/etc/mysql/debian.cnf", "/etc/postgresql/x", "/etc/default/service", "/etc/systemd/system/x.service", "/etc/crontab", "/etc/credstore/x",
	"/var/lib/service/x", "/var/log/syslog", "/var/spool/cron/x", "/var/run/secrets/kubernetes.io/serviceaccount/token",
	"/run/secrets/x", "/run/docker.sock", "/run/user/1000/bus", "/run/systemd/private", "/run/credentials/x",
	"/opt/service/config", "/srv/other/x", "/root/x", "/home/other/x", "/boot/x", "/mnt/x", "/media/x", "/tmp/x", "/var/tmp/x",
	"/home/linuxbrew/.linuxbrew/etc/my.cnf", "/home/linuxbrew/.linuxbrew/var/x",
	"/dev/sda", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/ptmx", "/dev/pts/0", "/dev/shm/x", "/dev/input/event0",
	"/sys/kernel/security/x", "/sys/kernel/debug/x", "/sys/firmware/efi/efivars/x", "/sys/fs/bpf/x",
	// The user's.
	"~/x", "~/.ssh/id_ed25519", "~/.ssh/config", "~/.gnupg/x", "~/.aws/credentials", "~/.azure/x", "~/.config/gcloud/x",
	"~/.docker/config.json", "~/.kube/config", "~/.netrc", "~/.npmrc", "~/.yarnrc.yml", "~/.pypirc", "~/.condarc", "~/.pgpass", "~/.my.cnf",
	"~/.git-credentials", "~/.config/git/credentials", "~/.config/gh/hosts.yml", "~/.config/hub", "~/.config/pip/pip.conf",
	"~/.config/go/env", "~/.config/composer/auth.json", "~/.composer/auth.json", "~/.config/rclone/rclone.conf", "~/.config/op/config",
	"~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.local/share/gem/credentials", "~/.bundle/config",
	"~/.m2/settings.xml", "~/.m2/settings-security.xml", "~/.gradle/gradle.properties", "~/.gradle/init.gradle", "~/.nuget/NuGet/NuGet.Config",
	"~/.hex/hex.config", "~/.terraform.d/credentials.tfrc.json", "~/.vault-token", "~/.databrickscfg", "~/.password-store/x",
	"~/.local/share/keyrings/x", "~/.mozilla/x", "~/.config/google-chrome/x", "~/.claude/x", "~/.codex/auth.json", "~/.config/claude/x",
	"~/.bash_history", "~/.zsh_history", "~/.profile", "~/.bash_profile", "~/.bashrc", "~/.zshrc", "~/.zshenv", "~/.envrc", "~/.env",
	"~/.cache/go-build/x", "~/miniconda3/.condarc", "~/.dotnet/corefx/cryptography/x509stores/my/x.pfx", "~/.npm/_cacache/x", "~/.config/fish/config.fish", "~/.local/share/uv/credentials/x",
}

func TestBuiltinsOpenNoCredential(t *testing.T) {
	for _, name := range BuiltinNames {
		p, _ := Builtin(name)
		for _, listed := range slices.Concat(p.ReadPaths, p.WritePaths) {
			for _, closed := range keepClosed {
				if closed == listed || strings.HasPrefix(closed, strings.TrimSuffix(listed, "/")+"/") {
					t.Errorf("%s opens %s by %s", name, closed, listed)
				}
			}
		}
	}
}

// Nothing that the user runs outside the sandbox can be changed within it.
func TestBuiltinsWriteNothingLasting(t *testing.T) {
	want := map[string][]string{
		None:      nil,
		System:    {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"},
		Workspace: {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "${WORK_DIR}"},
	}
	for _, name := range BuiltinNames {
		p, ok := Builtin(name)
		if !ok || !slices.Equal(p.WritePaths, want[name]) {
			t.Errorf("%s writes %q, want %q", name, p.WritePaths, want[name])
		}
		if p.AllowNetwork != nil || p.Secrets != nil || p.Accept != nil || p.WorkDir != "" || p.Extends != "" {
			t.Errorf("%s says more than paths and variables: %+v", name, p)
		}
		// Nothing is closed for reading by a block: it is by not being granted.
		if p.BlockedPaths != nil || (p.BlockedWritePaths != nil) != (name == Workspace) {
			t.Errorf("%s blocks %q, and writing of %q", name, p.BlockedPaths, p.BlockedWritePaths)
		}
	}
}

func TestBuiltinEnvHoldsNoCredential(t *testing.T) {
	bad := regexp.MustCompile(`(?i)token|secret|passw|credential|_auth($|[^o])|api_?key|proxy|sock|index_url|registry|^ld_|^dbus|^ssh|display|runtime_dir|makeflags|maven_opts|gradle_opts|node_options|^git_(config|askpass|ssh)|^aws|^bash_env$|^env$`)
	for _, name := range BuiltinNames {
		p, _ := Builtin(name)
		if p.Env == nil {
			continue
		}
		for _, v := range p.Env.Pass {
			if bad.MatchString(v) {
				t.Errorf("%s passes %s", name, v)
			}
			if strings.HasSuffix(v, "*") && v != "LC_*" {
				t.Errorf("%s passes the pattern %s", name, v)
			}
		}
	}
}

// Every entry is one that a user could write as well, and is listed once.
func TestBuiltinsAreOrdinaryPolicies(t *testing.T) {
	for _, name := range BuiltinNames {
		p, ok := Builtin(name)
		if !ok {
			t.Fatalf("no policy %s", name)
		}
		text, err := Encode(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := Decode(name, text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, back); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		seen := map[string]bool{}
		for _, listed := range slices.Concat(p.ReadPaths, p.WritePaths) {
			if seen[listed] {
				t.Errorf("%s lists %s twice", name, listed)
			}
			seen[listed] = true
			if path.Clean(listed) != listed {
				t.Errorf("%s lists %s, which is not clean", name, listed)
			}
		}
		for listed := range seen {
			for up := path.Dir(listed); up != "/" && up != "."; up = path.Dir(up) {
				if seen[up] {
					t.Errorf("%s lists %s below %s", name, listed, up)
				}
			}
		}
		if p.Env != nil && len(sortedSet(p.Env.Pass)) != len(p.Env.Pass) {
			t.Errorf("%s passes a variable twice", name)
		}
	}
}

func TestBuiltinIsACopy(t *testing.T) {
	for _, name := range []string{System, Workspace} {
		p, _ := Builtin(name)
		p.ReadPaths[0], p.WritePaths[0], p.Env.Pass[0] = "changed", "changed", "changed"
		if fresh, _ := Builtin(name); fresh.ReadPaths[0] == "changed" || fresh.WritePaths[0] == "changed" || fresh.Env.Pass[0] == "changed" {
			t.Errorf("%s can be changed by its callers", name)
		}
	}
}

func TestBuiltinUnknown(t *testing.T) {
	for _, name := range []string{"", "Workspace", "all"} {
		if p, ok := Builtin(name); ok || !cmp.Equal(p, Policy{}) {
			t.Errorf("Builtin(%q) gives %+v", name, p)
		}
	}
}

// An entry whose variable has no value is left out, and no other.
func TestBuiltinsWithoutVariables(t *testing.T) {
	workspace := layer("default", Policy{Extends: Workspace})
	full := resolve(t, vars, workspace)
	want := map[string]string{
		"TMPDIR": "/tmp/t", "XDG_CACHE_HOME": "/tmp/t/cache", "npm_config_cache": "/tmp/t/cache/npm",
		"JAVA_TOOL_OPTIONS": "-Djava.io.tmpdir=/tmp/t",
	}
	if diff := cmp.Diff(want, full.Env.Set); diff != "" {
		t.Errorf("env.set (-want +got):\n%s", diff)
	}
	if !slices.Contains(full.Rules, PathRule{"/home/u/.gitconfig", Read, "built-in workspace", true, false}) ||
		!slices.Contains(full.Rules, PathRule{"/srv/p", Write, "built-in workspace", true, false}) {
		t.Error("the home or the working directory is missing")
	}

	homeless := resolve(t, Vars{WorkDir: "/srv/p", TmpDir: "/tmp/t"}, workspace)
	if got, want := len(homeless.Rules), len(full.Rules)-len(gitPaths)-len(homeTools)-len(condaPaths()); got != want {
		t.Errorf("without a home: %d rules, want %d", got, want)
	}
	for name, r := range map[string]*Resolved{
		"no folder": resolve(t, Vars{Home: "/home/u", WorkDir: "/srv/p"}, workspace),
		"unwanted":  resolve(t, vars, workspace, layer("f", Policy{PrivateTmp: ptr(false)})),
	} {
		if len(r.Env.Set) != 0 || r.TmpDir != "" || len(r.Rules) != len(full.Rules)-1 {
			t.Errorf("%s: env.set %v, temporary folder %q, %d rules", name, r.Env.Set, r.TmpDir, len(r.Rules))
		}
	}
}

// A user who names a variable gets his own instead of the built-in value.
func TestBuiltinEnvGivesWay(t *testing.T) {
	r := resolve(t, vars, layer("f", Policy{Extends: Workspace, Env: &Env{Pass: []string{"XDG_CACHE_HOME", "npm_*"}}}))
	if _, set := r.Env.Set["XDG_CACHE_HOME"]; set {
		t.Error("XDG_CACHE_HOME is still set")
	}
	if _, set := r.Env.Set["npm_config_cache"]; !set {
		t.Error("a pattern took npm_config_cache away")
	}
}

func TestAcceptItems(t *testing.T) {
	names := acceptNames()
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	for _, item := range AcceptItems {
		if err := (Policy{Accept: []string{item.Name}}).Check("p"); err != nil {
			t.Error(err)
		}
		if !strings.HasSuffix(item.Doc, ".") || strings.Count(item.Doc, ". ") != 0 {
			t.Errorf("%s: %q is not one sentence", item.Name, item.Doc)
		}
	}
}
