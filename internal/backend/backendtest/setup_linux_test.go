// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// through has this binary arrange something and then become the command.
func through(t testing.TB, op ...string) func(*exec.Cmd) *exec.Cmd {
	return func(cmd *exec.Cmd) *exec.Cmd {
		c := exec.Command(self(t), slices.Concat([]string{probeArg}, op, []string{cmd.Path}, cmd.Args[1:])...)
		c.Dir, c.Env, c.Stdin = cmd.Dir, cmd.Env, cmd.Stdin
		return c
	}
}

// TestRefusedCalls: where a container's filter refuses a call that the
// set-up needs, nothing runs, and the error names what failed.
func TestRefusedCalls(t *testing.T) {
	w := newWorld(t)
	control := through(t, "refuse", "add_key", "1")(w.sandbox(w.policyFlags(), "/bin/true"))
	if r := finish(t, control); r.code != 0 {
		t.Fatalf("with an unrelated call refused: ended with %d\n%s", r.code, r.stderr)
	}
	for _, c := range []struct{ call, says string }{
		{"landlock_create_ruleset", "landlock"},
		{"landlock_add_rule", "landlock_add_rule"},
		{"landlock_restrict_self", "landlock_restrict_self"},
		{"seccomp", "seccomp"},
		{"memfd_create", "memfd_create"},
		{"openat2", "openat2"},
		{"close_range", "close descriptors"},
		{"socketpair", "socketpair"},
		{"prctl", "prctl"},
		{"capset", "capabilities"},
		{"prlimit64", "resource limit"},
		{"sendmsg", ""},
		{"recvmsg", ""},
		{"pipe2", "start the launcher"},
	} {
		for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENOSYS} {
			t.Run(c.call+" "+outcome(errno), func(t *testing.T) {
				w.as(t).refusesAs(through(t, "refuse", c.call, fmt.Sprint(int(errno))), w.policyFlags(), "SANDBOX_UNAVAILABLE", c.says)
			})
		}
	}
	// The broker's threads need an umask each where they make files.
	if landlockABI() >= abiRefer {
		for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENOSYS} {
			t.Run("unshare "+outcome(errno), func(t *testing.T) {
				refused := through(t, "refuse", "unshare", fmt.Sprint(int(errno)))
				w := w.as(t)
				w.refusesAs(refused, w.policyFlags("--block", w.at("work/closed")), "SANDBOX_UNAVAILABLE", "an umask of its own")
				if r := finish(t, refused(w.sandbox(w.policyFlags("--unprotect", "all"), "/bin/true"))); r.code != 0 {
					t.Errorf("where it makes none: ended with %d\n%s", r.code, r.stderr)
				}
			})
		}
	}
	// These the broker needs for some calls, or has another way for them: it
	// may refuse to work at all, or refuse those calls.
	for _, call := range []string{"process_vm_readv", "pidfd_open", "pidfd_getfd"} {
		for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENOSYS} {
			t.Run(call+" "+outcome(errno), func(t *testing.T) {
				w.as(t).brokerWithout(call, errno)
			})
		}
	}
}

func (w *world) brokerWithout(call string, errno syscall.Errno) {
	w.Helper()
	w.must(os.MkdirAll(w.at("read/d"), 0o755))
	w.must(os.MkdirAll(w.at("work/d"), 0o755))
	w.must(os.Chmod(w.at("work/d"), 0o755))
	before := exact(w, w.at("read"))
	ops := [][]string{{"fchmod", "<" + w.at("read/d"), "0700"}, {"fchmodat", "AT", "'" + w.at("read/d"), "0700"}, {"fchmod", "<d", "0711"}, {"fchmodat", "AT", "'d", "0711"}}
	r := finish(w, through(w, "refuse", call, fmt.Sprint(int(errno)))(w.sandbox(w.policyFlags(), probeArgs(w, ops)...)))
	if r.code == 125 {
		if !strings.Contains(r.stderr, "SANDBOX_UNAVAILABLE") {
			w.Errorf("no typed error: %s", r.stderr)
		}
		return
	}
	got := replies(w, r, len(ops))
	for _, one := range got[:2] {
		if one.outcome == "OK" {
			w.Errorf("a mode in a read tree was changed: %v", got)
		}
	}
	if exact(w, w.at("read")) != before {
		w.Error("a read tree changed")
	}
	st, err := os.Stat(w.at("work/d"))
	w.must(err)
	if claims := got[2].outcome == "OK" || got[3].outcome == "OK"; claims != (st.Mode().Perm() == 0o711) {
		w.Errorf("the mode is %v after %v", st.Mode(), got)
	}
}

// TestWithoutProc: the canonical names of paths come from /proc.
func TestWithoutProc(t *testing.T) {
	w := newWorld(t)
	hidden := func(cmd *exec.Cmd) *exec.Cmd {
		cmd = through(t, "without-proc")(cmd)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{21}, // CAP_SYS_ADMIN, in the new namespace
		}
		return cmd
	}
	control := hidden(w.sandbox(nil, "/bin/sh"))
	control.Args = []string{control.Args[0], probeArg, "without-proc", "/bin/sh", "-c", "[ ! -e /proc/self ] && echo hidden"}
	if out, err := control.CombinedOutput(); string(out) != "hidden\n" {
		t.Skipf("no namespace can be made in which /proc is not mounted: %v %s; TestRootWithoutProc needs none", err, out)
	}
	w.refusesAs(hidden, w.policyFlags(), "SANDBOX_UNAVAILABLE", "/proc")
}

// TestWithin: a sandbox in a sandbox would need a second listener, which the
// kernel refuses (EBUSY, seccomp(2)).
func TestWithin(t *testing.T) {
	w := newWorld(t)
	bin := os.Getenv("AMBIT_BIN")
	outer := func(cmd *exec.Cmd) *exec.Cmd {
		return w.sandbox(w.policyFlags("--read", bin), slices.Concat([]string{bin}, cmd.Args[1:])...)
	}
	if r := finish(t, outer(w.ambit("version"))); r.code != 0 {
		t.Fatalf("ambit itself does not run inside: %d\n%s", r.code, r.stderr)
	}
	step := "seccomp"
	if landlockABI() < abiTruncate {
		step = "openat2" // which the outer filter takes away there
	}
	w.refusesInside(outer, "SANDBOX_UNAVAILABLE", step)
}

// refusesInside is refusesAs for a receipt that can be written inside.
func (w *world) refusesInside(change func(*exec.Cmd) *exec.Cmd, code, says string) {
	w.Helper()
	for _, flags := range [][]string{nil, {"--json"}} {
		cmd := change(w.sandbox(w.policyFlags(flags...), "/bin/sh", "-c", "echo it ran; : > ran"))
		r := finish(w, cmd)
		w.ranNothing(cmd, r)
		if out := r.stdout + r.stderr; !strings.Contains(out, code) || !strings.Contains(out, says) {
			w.Errorf("the error does not say %s and %s:\n%s", code, says, out)
		}
	}
}

// TestScarce: with too few descriptors, too little memory, or no file size to
// speak of, a run either works or fails closed.
func TestScarce(t *testing.T) {
	w := newWorld(t)
	const as, fsize, nofile, nproc = "9", "1", "7", "6" // RLIMIT_* (asm-generic/resource.h)
	for _, c := range []struct {
		name, resource string
		values         []string
		crash          string // of Go's runtime, which then could not even start
	}{
		{"descriptors", nofile, strings.Fields("3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 22 24 28 32 64"), "runtime"},
		{"file size", fsize, []string{"0", "1", "4096"}, "-"},
		{"memory", as, strings.Fields("16777216 67108864 134217728 268435456 536870912 1073741824 2147483648"), "runtime"},
		{"processes", nproc, strings.Fields("1 2 3 5 8"), "runtime"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.as(t)
			for _, value := range c.values {
				cmd := through(t, "limit", c.resource, value)(w.sandbox(nil, "/bin/sh", "-c", "echo it ran"))
				r := finish(t, cmd)
				ran := strings.Contains(r.stdout, "it ran")
				switch {
				case r.code == 0 && ran:
				case r.code == 125 && !ran && strings.Contains(r.stderr, "SANDBOX_UNAVAILABLE"):
				case r.code == 2 && !ran && strings.Contains(r.stderr, c.crash):
				case r.code == 126 && !ran && strings.Contains(r.stderr, "cannot execute"): // the command itself did not fit
				case r.code != 0 && !ran && c.resource == as && strings.Contains(r.stderr, "error while loading shared libraries"):
				default:
					t.Errorf("%s: ended with %d (signal %d), ran: %v\n%s", value, r.code, r.signal, ran, clip(r.stderr))
				}
			}
		})
	}
}

// TestUnreadableProgram: ambit installed so that users can execute it and not
// read it. The kernel then closes the process's own /proc to it (dumpable,
// prctl(2)).
func TestUnreadableProgram(t *testing.T) {
	w := newWorld(t)
	b, err := os.ReadFile(os.Getenv("AMBIT_BIN"))
	w.must(err)
	w.must(os.WriteFile(w.at("outside/ambit"), b, 0o755))
	w.must(os.Chmod(w.at("outside/ambit"), 0o111))
	cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{{"get", w.at("outside/ambit")}, {"fchmodat", "AT", "'" + w.at("read"), "0700"}, {"put", "f", "WRONLY|CREAT", "x"}})...)
	cmd.Path = w.at("outside/ambit")
	r := finish(t, cmd)
	if r.code == 125 && strings.Contains(r.stderr, "SANDBOX_UNAVAILABLE") && !fileExists(w.at("work/f")) {
		return
	}
	if got := replies(t, r, 3); got[0].outcome != "EACCES" || got[1].outcome != "EACCES" || got[2].outcome != "OK" {
		t.Errorf("%v", got)
	}
}

// TestForeignListener: where another supervisor, as a container's, listens to
// this process already, nothing runs, the error says why, and doctor knows it
// before.
func TestForeignListener(t *testing.T) {
	w := newWorld(t)
	const why = "a supervisor outside already listens"
	foreign := through(t, "listen-to", "add_key")
	if r := finish(t, foreign(w.ambit("version"))); r.code != 0 {
		t.Fatalf("ambit itself does not run there: %d\n%s", r.code, r.stderr)
	}
	w.refusesAs(foreign, w.policyFlags(), "SANDBOX_UNAVAILABLE", why)
	r := finish(t, foreign(w.ambit("doctor")))
	if r.code != 1 || !strings.Contains(r.stdout, why) || !strings.Contains(r.stdout, "not usable") {
		t.Errorf("doctor ended with %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
