// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// field reads a line of a status file of /proc; "" if the process is gone.
func field(file, name string) string {
	b, _ := os.ReadFile(file)
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// hold starts a command that stays, and returns when it is there.
func (w *world) hold(flags []string, mark string) *exec.Cmd {
	w.Helper()
	cmd := w.sandbox(flags, self(w), probeArg, "hold", mark)
	start(w, cmd)
	eventually(w, "the command runs", func() bool { return len(w.marked(mark)) == 1 })
	return cmd
}

// TestSupervisorConfined: while a command runs, every thread of its supervisor
// is under a filter, and no other process of the user can look into it.
func TestSupervisorConfined(t *testing.T) {
	w := newWorld(t)
	for name, flags := range map[string][]string{
		"direct": nil, "nested": {"--block-write", w.at("work/closed")}, "output limit": {"--output-limit", "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			w := w.as(t)
			cmd := w.hold(w.policyFlags(flags...), w.mark())
			dir := fmt.Sprintf("/proc/%d", cmd.Process.Pid)
			threads, err := filepath.Glob(dir + "/task/*/status")
			w.must(err)
			if len(threads) < 3 {
				t.Fatalf("ambit has %d threads", len(threads))
			}
			for _, file := range threads {
				if filter, privs := field(file, "Seccomp"), field(file, "NoNewPrivs"); filter != "2" && filter != "" || privs != "1" && privs != "" {
					t.Errorf("%s: Seccomp %s, NoNewPrivs %s", file, filter, privs)
				}
			}
			victim := w.startVictim()
			for _, name := range []string{"environ", "mem", "maps", "auxv", "stack"} {
				if name == "stack" {
					continue // closed to users anyway
				}
				f, err := os.Open(dir + "/" + name)
				if !errors.Is(err, syscall.EACCES) {
					t.Errorf("%s of the supervisor can be opened: %v", name, err)
				}
				_ = f.Close()
				f, err = os.Open(fmt.Sprintf("/proc/%d/%s", victim.Process.Pid, name))
				if err != nil {
					t.Errorf("%s of any other process can't be opened, so nothing is proven: %v", name, err)
				}
				_ = f.Close()
			}
		})
	}
}

// storm is what a sandbox does that wants to hurt its supervisor, and what a
// supervisor may take by it.
const (
	stormMemory      = 96 << 10 // KiB, of which Go's runtime takes some 12
	stormDescriptors = 700
	stormThreads     = 100
)

// TestStorm: a sandbox that floods its broker, from many threads, with
// processes that are killed in the middle, and with hundreds of calls that
// wait for ever, is ended in time, and with a receipt. Its supervisor stays
// small meanwhile, and another sandbox is served.
func TestStorm(t *testing.T) {
	w := newWorld(t)
	flags := []string{"--block", w.at("work/closed")}
	limit := 4 * time.Second
	if slow() {
		limit = 20 * time.Second
	}
	cmd := w.sandbox(w.policyFlags(append(flags, "--timeout", limit.String(), "--receipt", w.at("outside/receipt"))...), self(t), probeArg, "storm")
	begin := time.Now()
	start(t, cmd)
	growth := watchGrowth(cmd.Process.Pid)
	eventually(t, "the storm has begun", func() bool { return fileExists(w.at("work/storming")) })
	other := w.as(t)
	otherRun := time.Now()
	r := finish(t, other.sandbox(w.policyFlags(flags...), probeArgs(t, [][]string{
		{"put", "beside", "WRONLY|CREAT", "x"}, {"fchmodat", "AT", "'beside", "0600"}, {"unlinkat", "AT", "'beside", "0"},
	})...))
	t.Logf("another run beside it took %v", time.Since(otherRun))
	for _, one := range replies(t, r, 3) {
		if one.outcome != "OK" {
			t.Errorf("beside a storm: %v", one)
		}
	}
	ws := waitFor(t, cmd)
	took, most := time.Since(begin), growth()
	t.Logf("the supervisor took at most %v, and ended after %v", most, took)
	if ws.ExitStatus() != 124 || took > limit+patience(5*time.Second) {
		t.Errorf("ended with %v after %v, want 124 after %v", ws, took, limit)
	}
	if most["VmRSS"] == 0 || most["VmRSS"] > stormMemory || most["Threads"] > stormThreads || most["FDSize"] > stormDescriptors {
		t.Errorf("the supervisor took %v", most)
	}
	b, err := os.ReadFile(w.at("outside/receipt"))
	w.must(err)
	if got := decode[receipt](t, string(b)); got.Outcome == nil || !got.Outcome.TimedOut || got.Outcome.Left {
		t.Errorf("the receipt says %+v", got.Outcome)
	}
}

// watchGrowth looks at a process until what it returns is called, which tells
// the most that the process took.
func watchGrowth(pid int) func() map[string]int {
	most, stop, done := map[string]int{}, make(chan struct{}), make(chan struct{})
	status := fmt.Sprintf("/proc/%d/status", pid)
	go func() {
		defer close(done)
		for {
			for _, name := range []string{"VmRSS", "Threads", "FDSize"} {
				n, _ := strconv.Atoi(strings.Fields(field(status, name) + " 0")[0])
				most[name] = max(most[name], n)
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() map[string]int { close(stop); <-done; return most }
}

// stop stops a process. The threads stop one after another, some time after the
// signal was sent (do_signal_stop, kernel/signal.c), and serve calls until then.
func (w *world) stop(pid int) {
	w.Helper()
	w.must(syscall.Kill(pid, syscall.SIGSTOP))
	eventually(w, "all threads are stopped", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
		w.must(err)
		return len(threads) > 0 && !slices.ContainsFunc(threads, func(file string) bool { return !strings.HasPrefix(field(file, "State"), "T") })
	})
}

// blockedIn counts the threads of a process that sleep in one of these system
// calls: the kernel tells the call's number only of those that don't run
// (proc_pid_syscall(5)).
func blockedIn(pid int, calls ...uintptr) (n int) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, name := range names {
		b, _ := os.ReadFile(name)
		for _, call := range calls {
			if strings.HasPrefix(string(b), fmt.Sprint(call, " ")) {
				n++
			}
		}
	}
	return n
}

// TestKilledPending: a supervisor that is killed while calls of the command
// wait for it, of every kind: to connect, to open a FIFO, and, as it was
// stopped before, any call. All processes end, and no call has been granted.
func TestKilledPending(t *testing.T) {
	w := newWorld(t)
	full := listenFull(t, w.at("work/full"))
	defer full()
	mark := w.mark()
	cmd := w.sandbox(w.policyFlags("--block", w.at("work/closed")), self(t), probeArg, "pending", mark)
	apart(cmd)
	start(t, cmd)
	pending := func(connects, opens int) func() bool {
		return func() bool {
			command := w.marked(mark)
			return len(command) == 1 && blockedIn(command[0], syscall.SYS_CONNECT) == connects && blockedIn(command[0], syscall.SYS_OPENAT) == opens
		}
	}
	eventually(t, "two calls are pending", pending(1, 1))
	w.stop(cmd.Process.Pid)
	w.write("work/go-on", "")
	eventually(t, "three calls are pending", pending(1, 2))
	if fileExists(w.at("work/late")) {
		t.Error("a call was served while the supervisor was stopped")
	}
	if len(w.marked(mark)) == 0 {
		t.Error("nothing of the command is left to end")
	}
	w.must(syscall.Kill(cmd.Process.Pid, syscall.SIGKILL))
	waitFor(t, cmd)
	eventually(t, "all of the command is gone", func() bool { return len(w.marked(mark)) == 0 })
	for _, name := range []string{"late", "connected", "opened"} {
		if fileExists(w.at("work/" + name)) {
			t.Errorf("%s: the call succeeded", name)
		}
	}
}

// apart gives a command a process group of its own, as a shell gives a job. In
// a group that is nobody's job, the end of the last process whose parent is in
// another group hangs up everybody, if one of them is stopped
// (kill_orphaned_pgrp, kernel/exit.c): the test too.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// TestStopped: a supervisor that is stopped, and goes on, serves what waited.
func TestStopped(t *testing.T) {
	w := newWorld(t)
	cmd := w.sandbox(w.policyFlags(), "/bin/sh", "-c", ": > f; echo ready; read x; chmod 640 f; echo done; read x")
	in, err := cmd.StdinPipe()
	w.must(err)
	out, err := os.Create(w.at("outside/out"))
	w.must(err)
	defer func() { _ = out.Close() }()
	cmd.Stdout = out
	apart(cmd)
	start(t, cmd)
	says := func(word string) bool {
		b, _ := os.ReadFile(w.at("outside/out"))
		return strings.Contains(string(b), word)
	}
	eventually(t, "the command runs", func() bool { return says("ready") })
	w.stop(cmd.Process.Pid)
	_, err = in.Write([]byte("\n"))
	w.must(err)
	shell := w.childrenOf(w.launcherOf(cmd.Process.Pid))[0]
	eventually(t, "the call is pending", func() bool {
		chmod := w.childrenOf(shell)
		return len(chmod) == 1 && blockedIn(chmod[0], syscall.SYS_EXECVE, syscall.SYS_FCHMODAT, numbers["fchmodat2"]) == 1
	})
	if says("done") {
		t.Error("a call was served while the supervisor was stopped")
	}
	w.must(syscall.Kill(cmd.Process.Pid, syscall.SIGCONT))
	eventually(t, "the call is served", func() bool { return says("done") })
	_, err = in.Write([]byte("\n"))
	w.must(err)
	if ws := waitFor(t, cmd); ws.ExitStatus() != 0 {
		t.Errorf("ended with %v", ws)
	}
}

// listenFull listens on a unix socket whose queue is full.
func listenFull(t *testing.T, name string) (end func()) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}), syscall.Listen(fd, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	all := []int{fd}
	for {
		c, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
		if err := syscall.Connect(c, &syscall.SockaddrUnix{Name: name}); err == syscall.EAGAIN {
			break
		} else if err != nil || len(all) > 100 {
			t.Fatalf("the queue does not fill: %v", err)
		}
	}
	return func() {
		for _, fd := range all {
			_ = syscall.Close(fd)
		}
	}
}
