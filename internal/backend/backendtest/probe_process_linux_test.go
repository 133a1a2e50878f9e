// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// processOperations concern the probe's own process.
func processOperations() map[string]operation {
	return map[string]operation{
		"converse": listen,
		"ids":      ownIDs,
		"umask":    ownMask,
		"digest":   digestInput,
		"env":      environment,
		"env-hash": hashVariable,
		"args":     ownArgsQuoted,
		"signals":  reportSignals,
		"isatty":   isTerminal,
		"allocate": allocate,

		"descriptors": openDescriptors,
		"posture":     showPosture,
	}
}

// childOperations start further processes.
func childOperations() map[string]operation {
	return map[string]operation{
		"hold":   hold,
		"spread": spread,
		"leave":  leave,
		"wait":   waitForEver,
		"fork":   forkMany,
	}
}

// statusField reads a line of /proc/self/status.
func statusField(name string) string {
	b, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(b), "\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}

// ownIDs: the real, effective, saved and file system uids, then the gids and
// the supplementary groups.
func ownIDs([]string) (string, error) {
	return statusField("Uid") + " / " + statusField("Gid") + " / " + statusField("Groups"), nil
}

func ownMask([]string) (string, error) { return statusField("Umask"), nil }

// digestInput: how much came by stdin, and its SHA-256.
func digestInput([]string) (string, error) {
	h := sha256.New()
	n, err := io.Copy(h, os.Stdin)
	return fmt.Sprintf("%d %x", n, h.Sum(nil)), err
}

// environment: all of it.
func environment([]string) (string, error) { return strings.Join(os.Environ(), "\n"), nil }

// hashVariable NAME: the SHA-256 of a variable's value, which thus does not
// show.
func hashVariable(a []string) (string, error) {
	v, ok := os.LookupEnv(a[0])
	if !ok {
		return "", fmt.Errorf("not set")
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(v))), nil
}

// ownArgsQuoted ARG...: what came.
func ownArgsQuoted(a []string) (string, error) { return fmt.Sprintf("%q", a), nil }

// isTerminal FD...: which of them are the controlling terminal.
func isTerminal(a []string) (string, error) {
	var out []string
	for _, text := range a {
		fd, err := strconv.Atoi(text)
		if err != nil {
			return "", err
		}
		_, err = callNumber("ioctl", []string{strconv.Itoa(fd), "0x540f", "#4"}) // TIOCGPGRP
		out = append(out, outcome(err))
	}
	return strings.Join(out, " "), nil
}

// allocate BYTES: address space, and no memory to go with it.
func allocate(a []string) (string, error) {
	n, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return "", err
	}
	return "", syscall.Munmap(b)
}

// openDescriptors lists what is open, below 1024. Asking opens nothing.
func openDescriptors([]string) (string, error) {
	var out []string
	for fd := range 1024 {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno == 0 {
			out = append(out, strconv.Itoa(fd))
		}
	}
	return strings.Join(out, " "), nil
}

// reportSignals prints a line for each signal that comes, and ends with
// status 7 on SIGTERM.
func reportSignals([]string) (string, error) {
	got := make(chan os.Signal, 64)
	signal.Notify(got, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT)
	if err := say("ready", nil); err != nil {
		return "", err
	}
	for s := range got {
		if err := say(strconv.Itoa(int(s.(syscall.Signal))), nil); err != nil {
			return "", err
		}
		if s == syscall.SIGTERM {
			os.Exit(7)
		}
	}
	return "", nil
}

// hold MARK: stay, whatever comes but SIGKILL. The mark makes the process
// findable from outside. It ends by itself after some minutes, so that a
// failing test leaves nothing for ever.
func hold([]string) (string, error) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE)
	time.Sleep(5 * time.Minute)
	return "", nil
}

func waitForEver(a []string) (string, error) { return hold(a) }

// leave MARK: start a holder in a session of its own, and end: a daemon.
func leave(a []string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	c := exec.Command(exe, probeArg, "hold", a[0])
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return "", c.Start()
}

// spread MARK: leave holders behind in every way there is: a child, one in a
// group and one in a session of its own, and a daemon. All hold the outputs.
// The number of them is spreadCount.
func spread(a []string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, c := range []struct {
		op   string
		attr syscall.SysProcAttr
	}{
		{"hold", syscall.SysProcAttr{}},
		{"hold", syscall.SysProcAttr{Setpgid: true}},
		{"hold", syscall.SysProcAttr{Setsid: true}},
		{"leave", syscall.SysProcAttr{Setsid: true}},
	} {
		cmd := exec.Command(exe, probeArg, c.op, a[0])
		cmd.SysProcAttr = &c.attr
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return c.op, err
		}
		if c.op == "leave" {
			if err := cmd.Wait(); err != nil {
				return c.op, err
			}
		}
	}
	return "", nil
}

const spreadCount = 4

// forkMany N: start that many processes that stay, and say how many there are.
func forkMany(a []string) (string, error) {
	n, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	spareThreads(8)
	for i := range n {
		c := exec.Command("/bin/sleep", "60")
		if err := c.Start(); err != nil {
			return strconv.Itoa(i), err
		}
		defer func() { _ = c.Process.Kill() }()
	}
	return a[0], nil
}

// spareThreads has the Go runtime make threads, and keeps them: it ends the
// process where it needs one more and the limit is reached (newosproc in
// runtime/os_linux.go).
func spareThreads(n int) {
	var stay, ready sync.WaitGroup
	stay.Add(1)
	for range n {
		ready.Add(1)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			stay.Wait()
		}()
	}
	ready.Wait()
	stay.Done()
}
