// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// signalsVariable, not empty, has the filter hand signals over too.
const signalsVariable = "AMBIT_BROKER_TEST_SIGNALS"

// eachPin runs a test with both ways to pin a thread, as far as this kernel
// has them.
func eachPin(t *testing.T, f func(t *testing.T, set func(*Broker))) {
	t.Setenv(signalsVariable, "1")
	t.Run("held", func(t *testing.T) { f(t, func(b *Broker) { b.threadPidfds = false }) })
	if sys.HasThreadPidfds() {
		t.Run("pidfd", func(t *testing.T) { f(t, func(*Broker) {}) })
	}
}

// signalled runs a role under a filter that hands signals over. All children
// of the test are in the sandbox.
func signalled(tb testing.TB, set func(*Broker), role string, args ...string) *subject {
	tb.Helper()
	o := makeFolders(tb).options(tb)
	o.Guard = os.Getpid()
	s, listener := startFiltered(tb, role, nil, args...)
	serveAs(tb, s, listener, o, set)
	return s
}

// stranger starts a process that is none of the sandbox's, since it descends
// from the test no more, in a process group of its own if that is 0.
func stranger(tb testing.TB, group int) int {
	tb.Helper()
	cmd := exec.Command("/bin/sh", "-c", "sleep 100 >/dev/null 2>&1 & echo $!")
	if group != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	}
	out, err := cmd.Output()
	if err != nil {
		tb.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}

// member starts a process of the sandbox, in a process group.
func member(tb testing.TB, group int) int {
	tb.Helper()
	cmd := exec.Command("/bin/sleep", "100")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

// running reports whether a process is there, and not a zombie.
func running(pid int) bool {
	text, err := sys.ReadSmallFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.HasPrefix(text[strings.LastIndexByte(text, ')')+1:], " Z")
}

func ends(tb testing.TB, what string, pid int) {
	tb.Helper()
	for end := time.Now().Add(patient); running(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Errorf("%s goes on", what)
			return
		}
	}
}

// siginfo is one with a code.
func siginfo(sig, code int32) memory {
	b := make([]byte, sys.SiginfoSize)
	binary.NativeEndian.PutUint32(b, uint32(sig))
	binary.NativeEndian.PutUint32(b[siCode:], uint32(code))
	return b
}

const siQueue, pollIn, sysPidfdOpen = -1, 1, 434

// TestSignalOne: every call reaches a process of the sandbox, and no other.
func TestSignalOne(t *testing.T) {
	eachPin(t, func(t *testing.T, set func(*Broker)) {
		s := signalled(t, set, "calls")
		const (
			ok   = syscall.Errno(0)
			perm = syscall.EPERM
			inv  = syscall.EINVAL
			gone = 4000000 // above every limit that a test host has
		)
		group := member(t, 0)
		outside := stranger(t, 0)
		queue := siginfo(0, siQueue)
		for _, c := range []struct {
			name string
			do   func(pid, sig int) outcome
			// forNone is the answer for a number that nobody has.
			forNone syscall.Errno
		}{
			{"kill", func(pid, sig int) outcome { return s.call(t, syscall.SYS_KILL, pid, sig) }, syscall.ESRCH},
			{"tkill", func(pid, sig int) outcome { return s.call(t, syscall.SYS_TKILL, pid, sig) }, syscall.ESRCH},
			{"tgkill", func(pid, sig int) outcome { return s.call(t, syscall.SYS_TGKILL, pid, pid, sig) }, syscall.ESRCH},
			{"rt_sigqueueinfo", func(pid, sig int) outcome { return s.call(t, syscall.SYS_RT_SIGQUEUEINFO, pid, sig, queue) }, syscall.ESRCH},
			{"rt_tgsigqueueinfo", func(pid, sig int) outcome {
				return s.call(t, syscall.SYS_RT_TGSIGQUEUEINFO, pid, pid, sig, queue)
			}, syscall.ESRCH},
			{"pidfd_send_signal", func(pid, sig int) outcome {
				fd := s.call(t, sysPidfdOpen, pid, 0)
				if fd.Errno != 0 {
					return fd
				}
				defer s.call(t, syscall.SYS_CLOSE, int(fd.Value))
				return s.call(t, sysPidfdSendSignal, int(fd.Value), sig, 0, 0)
			}, syscall.ESRCH},
		} {
			victim := member(t, 0)
			for _, a := range []struct {
				pid, sig int
				want     syscall.Errno
			}{
				{victim, 0, ok}, {s.cmd.Process.Pid, 0, ok}, {outside, 0, perm}, {outside, 9, perm}, {os.Getpid(), 0, perm},
				{1, 0, perm}, {1, 9, perm}, {victim, 65, inv}, {outside, 65, inv}, {gone, 9, c.forNone}, {victim, 9, ok},
			} {
				if got := c.do(a.pid, a.sig); got.Errno != a.want {
					t.Errorf("%s: signal %d to %d: %v, want %v (victim %d, outside %d)", c.name, a.sig, a.pid, got, a.want, victim, outside)
				}
			}
			ends(t, c.name+": what was killed", victim)
		}
		for _, a := range []struct {
			name string
			got  outcome
			want syscall.Errno
		}{
			{"a forged signal of the kernel", s.call(t, syscall.SYS_RT_SIGQUEUEINFO, group, 10, siginfo(10, pollIn)), perm},
			{"a forged tgkill", s.call(t, syscall.SYS_RT_TGSIGQUEUEINFO, group, group, 10, siginfo(10, siTKill)), perm},
			{"no siginfo", s.call(t, syscall.SYS_RT_SIGQUEUEINFO, group, 10, 8), syscall.EFAULT},
			{"no descriptor", s.call(t, sysPidfdSendSignal, 999, 0, 0, 0), syscall.EBADF},
			{"no pidfd", s.call(t, sysPidfdSendSignal, 0, 0, 0, 0), syscall.EBADF},
			{"unknown flags", s.call(t, sysPidfdSendSignal, 0, 0, 0, 4), inv},
			{"kill INT_MIN", s.call(t, syscall.SYS_KILL, -1<<31, 9), syscall.ESRCH},
			{"tkill 0", s.call(t, syscall.SYS_TKILL, 0, 0), inv},
			{"another's thread", s.call(t, syscall.SYS_TGKILL, group, s.cmd.Process.Pid, 0), syscall.ESRCH},
		} {
			if a.got.Errno != a.want {
				t.Errorf("%s: %v, want %v", a.name, a.got, a.want)
			}
		}
		if !running(outside) || !running(group) {
			t.Errorf("outside runs %v, the member %v", running(outside), running(group))
		}
	})
}

// TestSignalGroup: of a process group the sandbox's members get it.
func TestSignalGroup(t *testing.T) {
	eachPin(t, func(t *testing.T, set func(*Broker)) {
		s := signalled(t, set, "calls")
		leader := member(t, 0)
		second, outside := member(t, leader), stranger(t, leader)
		foreign := member(t, 0) // its leader ends, and the rest is foreign
		only := stranger(t, foreign)
		_ = syscall.Kill(foreign, syscall.SIGKILL)
		ends(t, "the leader", foreign)
		_, _ = syscall.Wait4(foreign, nil, 0, nil)
		for _, a := range []struct {
			group, sig int
			want       syscall.Errno
		}{{-leader, 0, 0}, {-foreign, 0, syscall.EPERM}, {-foreign, 9, syscall.EPERM}, {-4000000, 9, syscall.ESRCH},
			{-leader, 65, syscall.EINVAL}, {0, 0, 0}, {-1, 0, 0}, {-1, int(syscall.SIGURG), 0}, {-leader, 9, 0}} {
			if got := s.call(t, syscall.SYS_KILL, a.group, a.sig); got.Errno != a.want {
				t.Errorf("kill(%d, %d): %v, want %v", a.group, a.sig, got, a.want)
			}
		}
		ends(t, "the leader", leader)
		ends(t, "the member", second)
		if !running(outside) || !running(only) || s.call(t, syscall.SYS_GETPID).Errno != 0 {
			t.Errorf("a stranger in the group was killed: %v %v", !running(outside), !running(only))
		}
	})
}

// TestSignalEverybodyElse: kill(-1) reaches the whole sandbox but the caller.
// The signal is one that does nothing to whoever does not ask for it.
func TestSignalEverybodyElse(t *testing.T) {
	t.Setenv(signalsVariable, "1")
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.SIGWINCH)
	defer signal.Stop(got)
	s := signalled(t, func(*Broker) {}, "calls")
	other := start(t, "listen", nil)
	if line, err := other.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatal(line, err)
	}
	if o := s.call(t, syscall.SYS_KILL, -1, int(syscall.SIGWINCH)); o.Errno != 0 {
		t.Fatal(o)
	}
	if line, err := other.out.ReadString('\n'); err != nil || line != "window changed\n" {
		t.Errorf("the other member says %q %v", line, err)
	}
	select {
	case <-got:
		t.Error("the supervisor got it")
	case <-time.After(50 * time.Millisecond):
	}
}

// playListen says when it has got SIGWINCH.
func playListen([]string) error {
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.SIGWINCH)
	fmt.Println("ready")
	for range got {
		fmt.Println("window changed")
	}
	return nil
}

// TestSignalStorm: SIGKILL to a group ends also what was forked meanwhile.
func TestSignalStorm(t *testing.T) {
	t.Setenv(signalsVariable, "1")
	for range 3 {
		adopter := start(t, "adopt", nil)
		line, err := adopter.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		group, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		o := makeFolders(t).options(t)
		o.Guard = adopter.cmd.Process.Pid
		s, _ := startBrokered(t, o, "calls", nil)
		outside := stranger(t, group)
		waitFor(t, "a group that forks", func() bool { return len(groupMembers(t, group)) >= 3 })
		before := len(groupMembers(t, group))
		if o := s.call(t, syscall.SYS_KILL, -group, 9); o.Errno != 0 {
			t.Fatal(o)
		}
		var left []int
		for end := time.Now().Add(patient); ; time.Sleep(10 * time.Millisecond) {
			if left = groupMembers(t, group); len(left) <= 1 || time.Now().After(end) {
				break
			}
		}
		if len(left) != 1 || !running(outside) || before < 3 {
			t.Errorf("of %d %d are left, want the stranger alone", before, len(left))
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// playAdopt starts a group that forks for ever, and takes in its orphans.
func playAdopt([]string) error {
	if err := sys.BecomeSubreaper(); err != nil {
		return err
	}
	storm := exec.Command("/bin/sh", "-c", "while :; do sleep 100 & sleep 0.001; done")
	storm.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := storm.Start(); err != nil {
		return err
	}
	fmt.Println(storm.Process.Pid)
	_, _ = os.Stdin.Read(make([]byte, 1))
	return nil
}

// groupMembers lists who runs in a process group.
func groupMembers(tb testing.TB, group int) (pids []int) {
	tb.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if s, ok := standingOf(pid); ok && s.group == group && running(pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// received is a signal as the process itself sees it.
type received struct {
	Call    string
	Errno   syscall.Errno
	Pending bool // when the call returned
	Code    int32
	Process int32 // si_pid
	Value   uint64
}

// TestSignalSelf: what a thread sends to itself is pending when the call
// returns, in processes with one thread and with several.
func TestSignalSelf(t *testing.T) {
	eachPin(t, func(t *testing.T, set func(*Broker)) {
		s := signalled(t, set, "self")
		in := bufio.NewScanner(s.out)
		n := 0
		for ; in.Scan(); n++ {
			var r received
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				t.Fatal(err, in.Text())
			}
			t.Logf("%+v", r)
			// glibc asks for this of pthread_cancel's (sigcancel_handler in
			// nptl/pthread_cancel.c).
			if r.Call == "tgkill" && (r.Code != siTKill || int(r.Process) != s.cmd.Process.Pid) {
				t.Errorf("%+v: not from process %d itself", r, s.cmd.Process.Pid)
			}
			if r.Errno != 0 || !r.Pending {
				t.Errorf("%+v", r)
			}
			if r.Call == "rt_tgsigqueueinfo" && (r.Code != siQueue || r.Value != 77) {
				t.Errorf("%+v: another siginfo", r)
			}
		}
		if n != 3 {
			t.Errorf("%d signals", n)
		}
	})
}

// playSelf sends to its own thread, which holds the signal back.
func playSelf([]string) error {
	runtime.LockOSThread()
	const block, sig = 0, int(syscall.SIGUSR1)
	set := uint64(1) << (sig - 1)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, block, uintptr(unsafe.Pointer(&set)), 0, 8, 0, 0)
	pid, tid := uintptr(os.Getpid()), uintptr(syscall.Gettid())
	info := siginfo(int32(sig), siQueue)
	binary.NativeEndian.PutUint64(info[24:], 77)
	for _, c := range []struct {
		name string
		args [5]uintptr
	}{
		{"tkill", [5]uintptr{syscall.SYS_TKILL, tid, uintptr(sig)}},
		{"tgkill", [5]uintptr{syscall.SYS_TGKILL, pid, tid, uintptr(sig)}},
		{"rt_tgsigqueueinfo", [5]uintptr{syscall.SYS_RT_TGSIGQUEUEINFO, pid, tid, uintptr(sig), uintptr(unsafe.Pointer(&info[0]))}},
	} {
		r := received{Call: c.name}
		_, _, r.Errno = syscall.Syscall6(c.args[0], c.args[1], c.args[2], c.args[3], c.args[4], 0, 0)
		var pending uint64
		syscall.RawSyscall(syscall.SYS_RT_SIGPENDING, uintptr(unsafe.Pointer(&pending)), 8, 0)
		if r.Pending = pending&set != 0; r.Pending {
			got := make([]byte, sys.SiginfoSize)
			syscall.RawSyscall6(syscall.SYS_RT_SIGTIMEDWAIT, uintptr(unsafe.Pointer(&set)), uintptr(unsafe.Pointer(&got[0])), 0, 8, 0, 0)
			r.Code = int32(binary.NativeEndian.Uint32(got[siCode:]))
			r.Process = int32(binary.NativeEndian.Uint32(got[16:]))
			r.Value = binary.NativeEndian.Uint64(got[24:])
		}
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", b)
	}
	return nil
}
