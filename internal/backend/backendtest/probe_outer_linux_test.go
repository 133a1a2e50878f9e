// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// outerOperations concern another process, whose number is the word PID.
func outerOperations() map[string]operation {
	return map[string]operation{
		"victim":       victim,
		"with-child":   withChild,
		"pidfd-signal": pidfdSignal,
		"pidfd-take":   pidfdTake,
		"own-by-async": ownByAsync,
		"memory-of":    memoryOf,
		"readlink":     readLink,
		"write-to":     writeTo,
	}
}

// victim is a process for others to act on. It says that it is ready, and
// stays until its stdin ends. Where Yama restricts who may trace (scope 1,
// Documentation/admin-guide/LSM/Yama.rst), it lets everybody: what is refused
// then is refused by the sandbox.
func victim([]string) (string, error) {
	const prSetPtracer, anyProcess = 0x59616d61, ^uintptr(0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetPtracer, anyProcess, 0)
	if err := say("ready", nil); err != nil {
		return "", err
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return "", nil
}

// withChild OPERATION...: do it to a child of one's own, the control.
func withChild(a []string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "executable", err
	}
	child := exec.Command(exe, probeArg, "victim")
	in, err := child.StdinPipe()
	if err != nil {
		return "pipe", err
	}
	defer func() { _ = in.Close() }()
	out, err := child.StdoutPipe()
	if err != nil {
		return "pipe", err
	}
	if err := child.Start(); err != nil {
		return "start", err
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return "child", err
	}
	op := strings.Fields(strings.ReplaceAll(strings.Join(a, " "), "PID", strconv.Itoa(child.Process.Pid)))
	return operate(operations(), op[0], op[1:])
}

// pidfdSignal PID SIGNAL.
func pidfdSignal(a []string) (string, error) {
	fd, err := pidfd(a[0])
	if err != nil {
		return "pidfd_open", err
	}
	defer func() { _ = syscall.Close(fd) }()
	return callNumber("pidfd_send_signal", []string{strconv.Itoa(fd), a[1], "0", "0"})
}

// pidfdTake PID FD: take another process's descriptor.
func pidfdTake(a []string) (string, error) {
	fd, err := pidfd(a[0])
	if err != nil {
		return "pidfd_open", err
	}
	defer func() { _ = syscall.Close(fd) }()
	detail, err := callNumber("pidfd_getfd", []string{strconv.Itoa(fd), a[1], "0"})
	if err == nil {
		detail = "" // a number that depends on what else is open
	}
	return detail, err
}

func pidfd(pid string) (int, error) {
	text, err := callNumber("pidfd_open", []string{pid, "0"})
	if err != nil {
		return -1, err
	}
	return strconv.Atoi(text)
}

// ownByAsync PID SIGNAL: have the kernel send the signal when data comes.
func ownByAsync(a []string) (string, error) {
	pid, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	number, err := strconv.Atoi(a[1])
	if err != nil {
		return "", err
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "socketpair", err
	}
	// fcntl(2): F_SETOWN 8, F_SETSIG 10, F_SETFL 4 with O_ASYNC.
	for _, c := range [][2]int{{8, pid}, {10, number}, {4, syscall.O_ASYNC | syscall.O_NONBLOCK}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(pair[0]), uintptr(c[0]), uintptr(c[1])); errno != 0 {
			return "fcntl", errno
		}
	}
	_, err = syscall.Write(pair[1], []byte("x"))
	return "write", err
}

// memoryOf PID: read a byte of its program by process_vm_readv(2), at an
// address that /proc tells everybody who may trace it.
func memoryOf(a []string) (string, error) {
	var buf [1]byte
	local := [2]uintptr{uintptr(unsafe.Pointer(&buf[0])), 1}
	remote := [2]uintptr{uintptr(unsafe.Pointer(&pattern)), 1}
	pid, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	_, _, errno := syscall.Syscall6(numbers["process_vm_readv"], uintptr(pid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if errno != 0 {
		return "", errno
	}
	return string(buf[:]), nil
}

// pattern lies at the same address in every process of this binary.
var pattern = [1]byte{'p'}

// readLink NAME: what a link leads to. That differs from process to process.
func readLink(a []string) (string, error) {
	_, err := os.Readlink(a[0])
	return "", err
}

// writeTo NAME TEXT: an existing file, nothing but its content.
func writeTo(a []string) (string, error) {
	f, err := os.OpenFile(a[0], os.O_WRONLY, 0)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer func() { _ = f.Close() }()
	_, err = f.WriteString(a[1])
	return "", err
}
