// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// lastPID sets the number that the next process gets, less one.
const lastPID = "/proc/sys/kernel/ns_last_pid"

// replaced starts processes until one has this number, which is free: the
// stranger that takes it. Only an administrator can choose the number; anybody
// can try often enough.
func replaced(tb testing.TB, pid int) int {
	tb.Helper()
	for range 200 {
		if err := os.WriteFile(lastPID, []byte(strconv.Itoa(pid-1)), 0); err != nil {
			tb.Fatal(err)
		}
		cmd := exec.Command("/bin/sleep", "100")
		if err := cmd.Start(); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if cmd.Process.Pid == pid {
			return pid
		}
		_ = cmd.Process.Kill()
	}
	tb.Skip("the number was not to be had")
	return 0
}

// TestSignalReuse has the target of a signal, which may get it, replaced by a
// process outside under the same number, between the look and the deed.
func TestSignalReuse(t *testing.T) {
	f, err := os.OpenFile(lastPID, os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no number can be chosen here: %v", err)
	}
	_ = f.Close()
	const sig = int32(syscall.SIGKILL)
	for _, c := range []struct {
		name string
		// pin takes hold of the process, and returns what sends then.
		pin func(pid int) func() syscall.Errno
		// hits: the stranger gets it.
		hits bool
	}{
		{"by number", func(pid int) func() syscall.Errno {
			return func() syscall.Errno { return asErrno(syscall.Kill(pid, syscall.Signal(sig))) }
		}, true},
		{"process", func(pid int) func() syscall.Errno {
			fd, errno := openProcess(pid)
			if errno != 0 {
				t.Fatal(errno)
			}
			return func() syscall.Errno { defer closing(fd)(); return sys.SendSignal(fd, sig, nil, 0) }
		}, false},
		{"thread held", func(pid int) func() syscall.Errno {
			bell, err := sys.NewBell()
			if err != nil {
				t.Fatal(err)
			}
			if errno := bell.Aim(pid); errno != 0 || bell.Aimed() != pid {
				t.Fatal(errno, bell.Aimed())
			}
			return func() syscall.Errno {
				defer bell.Close()
				if bell.Aimed() != 0 {
					t.Error("the dead thread has a number")
				}
				return bell.Ring(sig)
			}
		}, false},
	} {
		victim := exec.Command("/bin/sleep", "100")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		pid := victim.Process.Pid
		send := c.pin(pid)
		_ = victim.Process.Kill()
		_ = victim.Wait()
		replaced(t, pid)
		errno := send()
		if c.hits {
			ends(t, c.name, pid)
			continue
		}
		if (errno != 0 && errno != syscall.ESRCH) || !running(pid) {
			t.Errorf("%s: %v, and the stranger runs: %v", c.name, errno, running(pid))
		}
	}
}

func closing(fd int) func() { return func() { _ = syscall.Close(fd) } }
