// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// startVictim starts a process of this user outside of any sandbox.
func (w *world) startVictim() *exec.Cmd {
	w.Helper()
	v := exec.Command(self(w), probeArg, "victim")
	v.Env = []string{"VICTIM_SECRET=in-the-environment"}
	v.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := v.StdinPipe()
	w.must(err)
	out, err := v.StdoutPipe()
	w.must(err)
	start(w, v)
	w.Cleanup(func() { _ = in.Close() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "=OK \"ready\"\n" {
		w.Fatalf("the victim said %q (%v)", line, err)
	}
	return v
}

// alive reports whether a process runs: not dead (a zombie, since nobody has
// waited for it), and not stopped.
func (w *world) alive(v *exec.Cmd) bool {
	s := w.state(v.Process.Pid)
	return s == "S" || s == "R"
}

// act is something done to another process.
type act struct {
	op string // on PID
	// want is the outcome inside, on a process outside.
	want string
	// own is the outcome inside on a child of its own; "" is OK.
	own string
	// detail is what want comes with, where that says which call refused.
	detail string
}

// harms says that a process may not survive the act, or not be the same.
func (a act) harms() bool {
	name, _, _ := strings.Cut(a.op, " ")
	return strings.Contains(name, "kill") || strings.Contains(name, "sig") || name == "ptrace"
}

func (a act) on(v *exec.Cmd) []string {
	return strings.Fields(strings.ReplaceAll(a.op, "PID", fmt.Sprint(v.Process.Pid)))
}

// tryActs does each to a process outside, to a child of its own, and, as the
// control, to a process outside from outside.
func tryActs(t *testing.T, acts []act) {
	w := newWorld(t)
	shared, calm := w.startVictim(), w.startVictim()
	var ops, control [][]string
	var victims []*exec.Cmd
	for _, a := range acts {
		v, free := shared, calm
		if a.harms() {
			v, free = w.startVictim(), w.startVictim()
		}
		victims = append(victims, v)
		ops = append(ops, a.on(v), append([]string{"with-child"}, strings.Fields(a.op)...))
		control = append(control, a.on(free))
	}
	got := w.inside(w.policyFlags(), ops...)
	for i, v := range victims {
		if !w.alive(v) {
			t.Errorf("%s: the process outside is %s", acts[i].op, w.state(v.Process.Pid))
		}
	}
	free := w.unconfined(control...)
	for i, a := range acts {
		t.Run(a.op, func(t *testing.T) {
			out, own, want := got[2*i], got[2*i+1], a.own
			if out.outcome != a.want || a.detail != "" && out.detail != a.detail {
				t.Errorf("to a process outside: %v, want %s %s", out, a.want, a.detail)
			}
			if want == "" {
				want = "OK"
			}
			if own.outcome != want {
				t.Errorf("to its own child: %v, want %s", own, want)
			}
			if free[i].outcome != "OK" {
				t.Errorf("without a sandbox: %v, so nothing is proven", free[i])
			}
		})
	}
}

// queued is a siginfo_t that a process makes by itself (SI_QUEUE is -1).
const queued = "00000000" + "00000000" + "ffffffff"

// TestSignal: no signal reaches a process outside.
func TestSignal(t *testing.T) {
	info := "x:" + queued + strings.Repeat("00", 128-12)
	tryActs(t, []act{
		{op: "kill PID 0", want: "EPERM"},
		{op: "kill PID 9", want: "EPERM"},
		{op: "kill PID 18", want: "EPERM"},
		{op: "kill -PID 0", want: "EPERM", own: "ESRCH"}, // its child leads no group
		{op: "tkill PID 9", want: "EPERM"},
		{op: "tgkill PID PID 9", want: "EPERM"},
		{op: "rt_sigqueueinfo PID 9 " + info, want: "EPERM"},
		{op: "rt_tgsigqueueinfo PID PID 9 " + info, want: "EPERM", own: toOneThread()},
		{op: "pidfd-signal PID 9", want: "EPERM"},
	})
}

// toOneThread is what comes of queueing a signal to one of several threads: the
// broker, which sends it below ABI 6, can't before Linux 6.9.
func toOneThread() string {
	const pidfdThread = syscall.O_EXCL
	fd, _, errno := syscall.RawSyscall(numbers["pidfd_open"], uintptr(os.Getpid()), pidfdThread, 0)
	if errno == 0 {
		_ = syscall.Close(int(fd))
	}
	if errno != 0 && landlockABI() < abiScope {
		return "ENOSYS"
	}
	return "OK"
}

// TestSignalAsync: the kernel sends no signal for the command either. The
// call itself succeeds, since nobody can know yet who will be its target.
func TestSignalAsync(t *testing.T) {
	w := newWorld(t)
	if landlockABI() < abiScope {
		w.covers("process.signal", "enforced", "broker")
	}
	v, free := w.startVictim(), w.startVictim()
	op := func(v *exec.Cmd) []string { return []string{"own-by-async", fmt.Sprint(v.Process.Pid), "9"} }
	if r := w.inside(w.policyFlags(), op(v))[0]; r != (reply{"OK", "write"}) && r != (reply{"EPERM", "fcntl"}) {
		t.Errorf("%v", r)
	}
	if r := w.unconfined(op(free))[0]; r.outcome != "OK" {
		t.Errorf("without a sandbox: %v", r)
	}
	if ws := waitFor(t, free); ws.Signal() != syscall.SIGKILL {
		t.Errorf("without a sandbox the signal did not arrive: %v", ws)
	}
	settle()
	if !w.alive(v) {
		t.Error("the kernel killed a process outside for the command")
	}
}

// TestSignalTerminal: nobody has the kernel signal the terminal's foreground
// process group, ambit among it, which a terminal belongs to that has no other
// owner. From ABI 6 on Landlock looks at each signal instead.
func TestSignalTerminal(t *testing.T) {
	w := newWorld(t)
	const setSignal, async, asyncToo = "fcntl 0 10 9", "fcntl 0 4 0x2000", "ioctl 0 0x5452 x:01000000"
	for _, op := range []string{setSignal, async, asyncToo} {
		args := append([]string{self(t), probeArg}, strings.Fields(op)...)
		tt, free := openTerminal(t), openTerminal(t)
		cmd := w.sandbox(w.policyFlags(), args...)
		tt.run(cmd)
		ws := waitFor(t, cmd)
		if ws.Signaled() {
			t.Errorf("%s: ambit was killed by signal %d", op, ws.Signal())
		}
		if landlockABI() < abiScope {
			tt.expect("=EPERM", 1)
		}
		cmd = exec.Command(args[0], args[1:]...)
		free.run(cmd)
		if ws = waitFor(t, cmd); ws.Signal() != syscall.SIGIO { // what it prints is an event
			free.expect("=OK", 1)
		}
	}
}

// TestSignalEverybody: a signal to everybody, or to the process group that
// ambit is in, reaches the command's own processes only.
func TestSignalEverybody(t *testing.T) {
	w := newWorld(t)
	v := w.startVictim()
	for _, target := range []string{"-1", "0"} {
		script := "trap '' TERM; /bin/sleep 60 & p=$!; trap - TERM; (trap '' TERM; kill -TERM " + target + "); wait $p; echo $?"
		if target == "0" {
			script = "trap : TERM; kill -TERM 0; echo survived"
		}
		cmd := w.sandbox(w.policyFlags(), "/bin/sh", "-c", script)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		r := finish(t, cmd)
		if target == "0" && (r.code != 0 || r.stdout != "survived\n") {
			t.Errorf("kill 0: ended with %d, printed %q; want 0, survived", r.code, r.stdout)
		}
		// The shell is among everybody, and ends too: by SIGTERM, as 128+15.
		if target == "-1" && r.code != 128+15 {
			t.Errorf("kill -1: ended with %d (signal %d) %s, want 143: ambit itself must go on", r.code, r.signal, r.stderr)
		}
		if !w.alive(v) {
			t.Fatalf("kill %s ended a process outside", target)
		}
	}
}

// TestTrace: no process outside is traced, or read through /proc.
func TestTrace(t *testing.T) {
	const attach, seize = "16", "0x4206" // linux/ptrace.h
	acts := []act{
		{op: "ptrace " + attach + " PID 0 0", want: "EPERM"},
		{op: "ptrace " + seize + " PID 0 0", want: "EPERM"},
		{op: "memory-of PID", want: "ENOSYS", own: "ENOSYS"}, // the filter's, for everybody
		{op: "process_vm_writev PID x:00000000000000000000000000000000 0 x:00000000000000000000000000000000 0 0", want: "ENOSYS", own: "ENOSYS"},
		{op: "pidfd-take PID 1", want: "EPERM"},
		{op: "kcmp PID PID 0 0 0", want: "EPERM"},
		{op: "openat AT '/proc/PID/mem RDONLY", want: "EACCES"},
		{op: "get /proc/PID/environ", want: "EACCES"},
		{op: "get /proc/PID/auxv", want: "EACCES"},
		{op: "get /proc/PID/maps", want: "EACCES"},
		{op: "get /proc/PID/smaps", want: "EACCES"},
		{op: "get /proc/PID/pagemap", want: "EACCES"},
		{op: "openat AT '/proc/PID/fd/0 RDONLY", want: "EACCES"},
		{op: "list /proc/PID/fdinfo", want: "EACCES"},
		{op: "list /proc/PID/map_files", want: "EACCES"},
		{op: "get /proc/PID/fdinfo/0", want: "EACCES"},
		{op: "readlink /proc/PID/exe", want: "EACCES"},
		{op: "readlink /proc/PID/cwd", want: "EACCES"},
		{op: "readlink /proc/PID/root", want: "EACCES"},
		{op: "readlink /proc/PID/fd/0", want: "EACCES"},
		{op: "readlink /proc/PID/ns/user", want: "EACCES"},
		{op: "list /proc/PID/root/", want: "EACCES", own: "EACCES"}, // / is not granted
		{op: "get /proc/PID/root/etc/hostname", want: "EACCES"},
		{op: "list /proc/PID/cwd/", want: "EACCES"},
		{op: "openat AT '/proc/PID/exe RDONLY", want: "EACCES"},
		{op: "openat AT '/proc/PID/task/PID/mem RDONLY", want: "EACCES"},
		// The command's own processes can't write there either: /proc is
		// granted for reading.
		{op: "write-to /proc/PID/oom_score_adj 0", want: "EACCES", own: "EACCES"},
		{op: "write-to /proc/PID/clear_refs 1", want: "EACCES", own: "EACCES"},
		{op: "openat AT '/proc/PID/mem RDWR", want: "EACCES", own: "EACCES"},
		// What every user sees of every process, and of his own the numbers of
		// descriptors (proc_fd_permission in fs/proc/fd.c): Linux asks for no
		// right to trace.
		{op: "list /proc/PID/fd", want: "OK"},
		{op: "get /proc/PID/cmdline", want: "OK"},
		{op: "get /proc/PID/status", want: "OK"},
	}
	tryActs(t, acts)
}

// TestHandsOff: what slows or cripples a process outside.
func TestHandsOff(t *testing.T) {
	const noCore = "x:00000000000000000000000000000000"
	tryActs(t, []act{
		{op: "prlimit64 PID 4 " + noCore + " 0", want: "EPERM", own: "EPERM"},
		{op: "setpriority 0 PID 19", want: "EPERM", own: "EPERM"},
		{op: "ioprio_set 1 PID 0x6000", want: "EPERM", own: "EPERM"},
		{op: "sched_setscheduler PID 5 x:00000000", want: "EPERM", own: "EPERM"},
		{op: "sched_setattr PID x:30000000050000000000000000000000000000000000000000000000000000000000000000000000000000000000000000 0", want: "EPERM", own: "EPERM"},
	})
	w := newWorld(t)
	// For themselves programs do all of it.
	w.tryAll(w.policyFlags(), []attempt{
		{"prlimit64 0 7 0 #16", "OK", ""},
		{"setpriority 0 0 19", "OK", ""},
		{"ioprio_set 1 0 0x6000", "OK", ""},
		{"sched_setscheduler 0 0 x:00000000", "OK", ""},
	})
}
