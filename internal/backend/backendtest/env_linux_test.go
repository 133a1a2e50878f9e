// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"slices"
	"strings"
	"testing"
)

// namesOf are the variables' names, sorted.
func namesOf(env string) (names []string) {
	for _, kv := range strings.Split(env, "\n") {
		if name, _, ok := strings.Cut(kv, "="); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestEnvironment: variables pass that the policy names, and no others.
func TestEnvironment(t *testing.T) {
	w := newWorld(t)
	caller := []string{
		"API_TOKEN=closed", "AWS_SECRET_ACCESS_KEY=closed", "HTTPS_PROXY=http://user:closed@proxy", "SSH_AUTH_SOCK=/closed", "DBUS_SESSION_BUS_ADDRESS=closed",
		"LD_PRELOAD=", "LD_LIBRARY_PATH=/closed", "XDG_RUNTIME_DIR=/closed", "GOPROXY=closed", "BASH_ENV=/closed", "ENV=/closed", "BASH_FUNC_x%%=() { echo closed; }",
		"TMPDIR=/tmp", "TERM=dumb", "LC_ALL=C", "ONE=1", "PREFIX_A=a", "PREFIX_B=b", "EMPTY=", "AMBIT_BIN=closed", "GOGC=17", "GODEBUG=containermaxprocs=0",
	}
	// scratch are set by the built-in policy, to the private temporary folder.
	scratch := []string{"JAVA_TOOL_OPTIONS", "TMPDIR", "XDG_CACHE_HOME", "npm_config_cache"}
	usual := []string{"HOME", "LANG", "LC_ALL", "PATH", "TERM"}
	for _, c := range []struct {
		name  string
		flags []string
		want  []string
	}{
		{"default", nil, slices.Concat(usual, scratch)},
		{"named", []string{"--env", "ONE", "--env", "NEW=new", "--env", "PREFIX_*", "--env", "EMPTY", "--env", "NOT_SET"}, slices.Concat(usual, scratch, []string{"ONE", "NEW", "PREFIX_A", "PREFIX_B", "EMPTY"})},
		{"set", []string{"--env", "ONE=another", "--env", "HOME=/elsewhere", "--env", "LANG="}, slices.Concat(usual, scratch, []string{"ONE"})},
		{"nothing", []string{"--extends", "none", "--work-dir", w.at("work"), "--read", "/usr", "--read", "/lib", "--read", "/lib64", "--read", "/etc/ld.so.cache"}, nil},
		{"no private folder", []string{"--extends", "system", "--work-dir", w.at("work")}, usual},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.as(t)
			cmd := w.sandbox(w.policyFlags(c.flags...), probeArgs(t, [][]string{{"env"}})...)
			cmd.Env = append(cmd.Env, caller...)
			env := replies(t, finish(t, cmd), 1)[0].detail
			slices.Sort(c.want)
			if got := namesOf(env); !slices.Equal(got, c.want) {
				t.Errorf("the command has the variables %v, want %v", got, c.want)
			}
			if strings.Contains(env, "closed") {
				t.Errorf("a value came that was not to come:\n%s", env)
			}
			for name, want := range map[string][]string{
				"named": {"ONE=1", "NEW=new", "PREFIX_A=a", "EMPTY="}, "set": {"ONE=another", "HOME=/elsewhere", "LANG="},
			} {
				for _, kv := range want {
					if name == c.name && !slices.Contains(strings.Split(env, "\n"), kv) {
						t.Errorf("there is no %s in\n%s", kv, env)
					}
				}
			}
		})
	}
}

// TestPrivateTmp: the temporary folder is the run's own, usable, and gone
// afterwards with whatever was put there.
func TestPrivateTmp(t *testing.T) {
	w := newWorld(t)
	const script = `set -e; cd "$TMPDIR"; pwd; stat -c %a .; mkdir -p a/b "$XDG_CACHE_HOME"; echo x > a/b/f; ln -s / root; mkfifo p; chmod 0 a/b; chmod 500 a; chmod 500 .; ls -d /tmp/* >/dev/null 2>&1 && exit 3; exit 0`
	for _, umask := range []string{"022", "0777"} {
		cmd := throughShell(w.sandbox(w.policyFlags(), "/bin/sh", "-c", script), "umask "+umask+`; exec "$0" "$@"`)
		cmd.Env = append(cmd.Env, "TMPDIR="+w.at("outside"))
		r := finish(t, cmd)
		dir, mode, _ := strings.Cut(strings.TrimSpace(r.stdout), "\n")
		if umask == "022" && r.code != 0 || mode != "700" || !strings.HasPrefix(dir, w.at("outside")+"/ambit-") {
			t.Errorf("umask %s: ended with %d in %q with mode %s\n%s", umask, r.code, dir, mode, r.stderr)
		}
		if fileExists(dir) {
			t.Errorf("umask %s: %s is left", umask, dir)
		}
	}
	if !fileExists(w.at("outside")) {
		t.Error("more was removed than the folder")
	}
}
