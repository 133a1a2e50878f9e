// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// stormOperations make as many brokered calls as they can.
func stormOperations() map[string]operation {
	return map[string]operation{"storm": storm, "gust": gust, "pending": pending}
}

// storm: flood the broker from many threads, from processes that are killed in
// the middle of their calls, and with opens of "fifo" that wait for ever.
func storm([]string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "executable", err
	}
	// Made during the run, it has no rule of its own where something beside it
	// is blocked: opening it is the broker's.
	if err := syscall.Mkfifo("fifo", 0o600); err != nil {
		return "mkfifo", err
	}
	// Before, since on one processor who is not of the storm waits long.
	if err := os.WriteFile("storming", nil, 0o600); err != nil {
		return "write", err
	}
	for range 300 {
		go func() { _, _ = syscall.Open("fifo", syscall.O_WRONLY, 0) }()
	}
	for n := range 32 {
		go func() { _, _ = gust([]string{fmt.Sprint("gust-", n)}) }()
	}
	go func() {
		for {
			c := exec.Command(exe, probeArg, "gust", "gust-killed")
			if c.Start() != nil {
				continue
			}
			time.Sleep(5 * time.Millisecond)
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}()
	select {}
}

// gust NAME: make, change and remove a file, and be refused, as fast as can be.
func gust(a []string) (string, error) {
	for {
		if fd, err := syscall.Open(a[0], syscall.O_WRONLY|syscall.O_CREAT, 0o600); err == nil {
			_ = syscall.Close(fd)
		}
		_ = syscall.Chmod(a[0], 0o640)
		_ = syscall.Chmod("/etc/passwd", 0o640)
		_ = syscall.Unlink(a[0])
	}
}

// pending MARK: a connect and an open of a FIFO that wait for ever, and a call
// when the file "go-on" appears. What returns without an error leaves a file.
func pending([]string) (string, error) {
	if err := syscall.Mkfifo("queue", 0o600); err != nil {
		return "mkfifo", err
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "socket", err
	}
	for name, do := range map[string]func() error{
		"connected": func() error { return syscall.Connect(fd, &syscall.SockaddrUnix{Name: "full"}) },
		"opened":    func() error { _, err := syscall.Open("queue", syscall.O_RDONLY, 0); return err },
	} {
		go func() {
			if do() == nil {
				_ = os.WriteFile(name, nil, 0o600)
			}
		}()
	}
	// Looking whether a name is there is nobody's call but the kernel's.
	for syscall.Access("go-on", 0) != nil {
		time.Sleep(5 * time.Millisecond)
	}
	return "late", os.WriteFile("late", nil, 0o600)
}
