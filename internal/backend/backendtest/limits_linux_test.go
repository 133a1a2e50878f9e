// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// limitsOf reads "Max open files  333  333" lines: soft and hard limit by name.
func limitsOf(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 67 && strings.HasPrefix(line, "Max ") {
			out[strings.TrimSpace(line[:26])] = strings.TrimSpace(line[26:47]) + " " + strings.TrimSpace(line[47:67])
		}
	}
	return out
}

// keptProcesses is how many processes the command may have of those that its
// caller may: some are kept for ambit, so that it can always end the tree.
func keptProcesses(callers int) int { return callers - 24 }

// TestLimitsKept: the command has the caller's limits, the soft one of open
// files too, which Go's runtime raises for itself. Of memory dumps it may
// write none: with a limit of 1 the kernel also starts no program for them
// (fs/coredump.c), and a caller who may write none can't raise that to 1.
func TestLimitsKept(t *testing.T) {
	w := newWorld(t)
	for _, callers := range []string{"100", "0"} {
		t.Run("core "+callers, func(t *testing.T) {
			w := w.as(t)
			cmd := w.sandbox(nil, "/bin/cat", "/proc/self/limits")
			cmd = throughShell(cmd, `ulimit -Sn 333; ulimit -Hn 1000; ulimit -Ss 4096; ulimit -Sc 0; ulimit -Hc `+callers+`; cat /proc/self/limits > ../outside/limits; exec "$0" "$@"`)
			inside := limitsOf(succeed(t, cmd).stdout)
			b, err := os.ReadFile(w.at("outside/limits"))
			w.must(err)
			outside := limitsOf(string(b))
			if outside["Max open files"] != "333 1000" || len(outside) != 16 {
				t.Fatalf("the caller's limits are %v", outside)
			}
			if outside["Max core file size"] != "0 0" { // the tests' own caller may have it so
				outside["Max core file size"] = "1 1"
			}
			if soft, _, _ := strings.Cut(outside["Max processes"], " "); soft != "unlimited" {
				n, err := strconv.Atoi(soft)
				w.must(err)
				outside["Max processes"] = fmt.Sprintf("%d %[1]d", keptProcesses(n))
			}
			for name, want := range outside {
				if inside[name] != want {
					t.Errorf("%s: %s, want %s", name, inside[name], want)
				}
			}
		})
	}
}

// TestLimits: each limit that a policy can set, and that it bites.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		flag, value string
		name, want  string // in /proc/self/limits
		script      string
		code        int
		says        string
	}{
		{"--open-files", "20", "Max open files", "20 20", "exec 19</dev/null && echo open; exec 20</dev/null || exit 2", 2, "open"},
		{"--file-size", "1000", "Max file size", "1000 1000", "head -c 5000 /dev/zero > f", 128 + int(syscall.SIGXFSZ), ""},
		{"--cpu", "1", "Max cpu time", "1 1", "while :; do :; done", 128 + int(syscall.SIGKILL), ""},
		{"--memory", "4G", "Max address space", "4294967296 4294967296", self(t) + " op allocate 300000000 :: allocate 5000000000", 0, "=OK \"\"\n=ENOMEM"},
	} {
		t.Run(c.flag, func(t *testing.T) {
			w := w.as(t)
			flags := w.policyFlags(c.flag, c.value)
			if got := limitsOf(succeed(t, w.sandbox(flags, "/bin/cat", "/proc/self/limits")).stdout)[c.name]; got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
			r := finish(t, w.sandbox(flags, "/bin/bash", "-c", c.script))
			if r.code != c.code || !strings.Contains(r.stdout+r.stderr, c.says) {
				t.Errorf("ended with %d, want %d\n%s%s", r.code, c.code, r.stdout, r.stderr)
			}
			if c.flag == "--file-size" {
				if st, err := os.Stat(w.at("work/f")); err != nil || st.Size() != 1000 {
					t.Errorf("the file is %v (%v)", st, err)
				}
			}
		})
	}
	t.Run("--processes", func(t *testing.T) {
		w := w.as(t)
		ops := [][]string{{"fork", "100"}}
		// The count is the user's: ambit and its launcher are in it, with
		// their threads.
		if r := w.inside(w.policyFlags("--processes", "60"), ops...)[0]; r.outcome != "EAGAIN" || r.detail == "0" {
			t.Errorf("of 100 processes %s could be started: %s, want a few and EAGAIN", r.detail, r.outcome)
		}
		if r := w.inside(w.policyFlags(), ops...)[0]; r != (reply{"OK", "100"}) {
			t.Errorf("without the limit %s could be started: %s", r.detail, r.outcome)
		}
	})
	t.Run("above the caller's own", func(t *testing.T) {
		w := w.as(t)
		cmd := throughShell(w.sandbox([]string{"--open-files", "5000"}, "/bin/cat", "/proc/self/limits"), `ulimit -n 100; exec "$0" "$@"`)
		if got := limitsOf(succeed(t, cmd).stdout)["Max open files"]; got != "100 100" {
			t.Errorf("open files: %s, want 100 100", got)
		}
	})
}

// TestIdentity: uid, gid, groups, umask and what is made with them are the
// caller's.
func TestIdentity(t *testing.T) {
	w := newWorld(t)
	free := w.unconfined([]string{"ids"})[0]
	if got := w.inside(w.policyFlags(), []string{"ids"})[0]; got != free {
		t.Errorf("inside %s, outside %s", got.detail, free.detail)
	}
	for _, umask := range []string{"0022", "0077", "0000", "0137"} {
		cmd := throughShell(w.sandbox(w.policyFlags(), probeArgs(t, [][]string{
			{"umask"}, {"openat", "AT", "'f" + umask, "WRONLY|CREAT", "0666"}, {"mkdirat", "AT", "'d" + umask, "0777"},
		})...), "umask "+umask+`; exec "$0" "$@"`)
		if r := replies(t, finish(t, cmd), 3)[0]; r.detail != umask {
			t.Errorf("the command's umask is %s, want %s", r.detail, umask)
		}
		var mask uint32
		_, _ = fmt.Sscanf(umask, "%o", &mask)
		for name, mode := range map[string]uint32{"f": 0o666, "d": 0o777} {
			var st syscall.Stat_t
			w.must(syscall.Stat(w.at("work/"+name+umask), &st))
			if st.Mode&0o777 != mode&^mask || int(st.Uid) != os.Getuid() || int(st.Gid) != os.Getgid() {
				t.Errorf("umask %s: %s has mode %o and the owner %d:%d", umask, name, st.Mode&0o777, st.Uid, st.Gid)
			}
		}
	}
}
