// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// terminal is a pseudo terminal, seen from the side of the person.
type terminal struct {
	t      testing.TB
	master *os.File
	name   string // of the other side

	mu   sync.Mutex
	seen []byte
}

func openTerminal(t testing.TB) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	raw, err := master.SyscallConn() // Fd would make reads block Close
	if err != nil {
		t.Fatal(err)
	}
	var number uint32
	var errno syscall.Errno
	err = raw.Control(func(fd uintptr) { number, errno = unlockTerminal(fd) })
	if err != nil || errno != 0 {
		t.Fatalf("cannot make a terminal: %v, %v", err, errno)
	}
	tt := &terminal{t: t, master: master, name: "/dev/pts/" + strconv.Itoa(int(number))}
	go tt.read()
	return tt
}

// unlockTerminal makes the other side usable, and returns its number
// (ioctl_tty(2)).
func unlockTerminal(master uintptr) (number uint32, errno syscall.Errno) {
	var locked int32
	_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, master, syscall.TIOCSPTLCK, uintptr(unsafe.Pointer(&locked)))
	if errno == 0 {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, master, syscall.TIOCGPTN, uintptr(unsafe.Pointer(&number)))
	}
	return number, errno
}

func (tt *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := tt.master.Read(buf)
		tt.mu.Lock()
		tt.seen = append(tt.seen, buf[:n]...)
		tt.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// run starts a command as the leader of a session on the terminal.
func (tt *terminal) run(cmd *exec.Cmd) {
	tt.t.Helper()
	slave, err := os.OpenFile(tt.name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		tt.t.Fatal(err)
	}
	defer func() { _ = slave.Close() }()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	start(tt.t, cmd)
}

// press types text.
func (tt *terminal) press(text string) {
	tt.t.Helper()
	if _, err := tt.master.WriteString(text); err != nil {
		tt.t.Fatal(err)
	}
}

func (tt *terminal) text() string {
	tt.mu.Lock()
	defer tt.mu.Unlock()
	return string(tt.seen)
}

func (tt *terminal) count(what string) int { return bytes.Count([]byte(tt.text()), []byte(what)) }

// expect waits until the terminal has shown something n times.
func (tt *terminal) expect(what string, n int) {
	tt.t.Helper()
	defer func() {
		if tt.t.Failed() {
			tt.t.Logf("the terminal shows %q", tt.text())
		}
	}()
	eventually(tt.t, fmt.Sprintf("%d times %q", n, what), func() bool { return tt.count(what) >= n })
}
