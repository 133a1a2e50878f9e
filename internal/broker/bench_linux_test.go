// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// playLoop makes one call as often as each line on stdin says. Arguments: the
// call, a file.
func playLoop(args []string) error {
	runtime.LockOSThread()
	fd, err := syscall.Open(args[1], syscall.O_RDWR, 0)
	if err != nil {
		return err
	}
	var call func()
	path := str(args[1])
	switch args[0] {
	case "chmod":
		call = func() { _, _, _ = syscall.Syscall(syscall.SYS_FCHMODAT, sysCWD, pointer(path), 0o600) }
	case "fchmod":
		call = func() { _, _, _ = syscall.Syscall(syscall.SYS_FCHMOD, uintptr(fd), 0o600, 0) }
	case "connect":
		addr := unixPath(args[1])
		call = func() { _ = contact(addr) }
	case "tgkill":
		pid, tid := uintptr(os.Getpid()), uintptr(syscall.Gettid())
		call = func() { _, _, _ = syscall.Syscall(syscall.SYS_TGKILL, pid, tid, uintptr(syscall.SIGURG)) }
	case "setxattr":
		name := str("user.t")
		call = func() {
			_, _, _ = syscall.Syscall6(syscall.SYS_SETXATTR, pointer(path), pointer(name), pointer(name), 1, 0, 0)
		}
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			return err
		}
		for range n {
			call()
		}
		fmt.Println("done")
	}
	return nil
}

// loop has the child make b.N calls.
func (s *subject) loop(b *testing.B) {
	b.Helper()
	run := func(n int) {
		if _, err := fmt.Fprintln(s.in, n); err != nil {
			b.Fatal(err)
		}
		s.says(b, "done")
	}
	run(100)
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
}

// BenchmarkCall compares a call, as the caller sees it: native; brokered; a
// refusal; and a notification that is answered at once, which is the least
// that any supervisor costs.
func BenchmarkCall(b *testing.B) {
	for _, name := range []string{"chmod", "fchmod", "setxattr"} {
		f := makeFolders(b)
		dir := strings.TrimSuffix(f.w, "w")
		b.Run(name+"/native", func(b *testing.B) {
			start(b, roleBare, nil, "loop", name, f.w+"/f").loop(b)
		})
		b.Run(name+"/floor", func(b *testing.B) {
			s, listener := startFiltered(b, "loop", nil, name, f.w+"/f")
			floor(b, listener)
			s.loop(b)
		})
		b.Run(name+"/brokered", func(b *testing.B) {
			s, _ := startBrokered(b, f.options(b), "loop", nil, name, f.w+"/f")
			s.loop(b)
		})
		b.Run(name+"/by proc", func(b *testing.B) {
			s, _ := startBrokered(b, f.options(b), "loop", nil, name, "/proc/self/root"+f.w+"/f")
			s.loop(b)
		})
		b.Run(name+"/refused", func(b *testing.B) {
			s, _ := startBrokered(b, f.options(b), "loop", nil, name, dir+"r/f")
			s.loop(b)
		})
	}
}

// BenchmarkSignal compares a signal of a thread to itself: native, by a pidfd
// of the thread, and held without one.
func BenchmarkSignal(b *testing.B) {
	b.Setenv(signalsVariable, "1")
	f := makeFolders(b)
	b.Run("native", func(b *testing.B) { start(b, roleBare, nil, "loop", "tgkill", f.w+"/f").loop(b) })
	b.Run("pidfd", func(b *testing.B) { signalled(b, func(*Broker) {}, "loop", "tgkill", f.w+"/f").loop(b) })
	b.Run("held", func(b *testing.B) {
		signalled(b, func(x *Broker) { x.threadPidfds = false }, "loop", "tgkill", f.w+"/f").loop(b)
	})
}

// floor lets every call go on, as fast as it can.
func floor(b *testing.B, listener int) {
	b.Helper()
	if err := sys.SetSyncWakeUp(listener); err != nil && !errors.Is(err, syscall.EINVAL) {
		b.Fatal(err)
	}
	buf, err := sys.NewNotifyBuffer()
	if err != nil {
		b.Fatal(err)
	}
	stop, err := sys.NewWakeFD()
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		runtime.LockOSThread()
		for {
			why, err := sys.WaitNotification(listener, stop)
			if err != nil || why.Deserted || why.Stopped {
				_ = syscall.Close(listener)
				_ = syscall.Close(stop)
				return
			}
			if n, err := buf.Receive(listener); err == nil {
				_ = buf.Continue(listener, n.ID)
			}
		}
	}()
}
