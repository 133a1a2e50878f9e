// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// hungProgram is a program that can't be executed for as long as
// /proc/sys/fs/lease-break-time says: this process has a lease on it
// (fcntl(2), "Leases"), as a file system that hangs would hold it up.
func (w *world) hungProgram() string {
	w.Helper()
	name := w.write("read/hung", "#!/bin/sh\n: > ran\n")
	w.must(os.Chmod(name, 0o755))
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	w.must(err)
	w.Cleanup(func() { _ = f.Close() })
	const setLease = 1024 // F_SETLEASE, linux/fcntl.h
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setLease, syscall.F_WRLCK); errno != 0 {
		w.Fatalf("there is no lease: %v", errno)
	}
	return name
}

// TestHungSetUp: an execve that hangs holds up neither the limit of time nor
// the end of a run whose ambit is killed.
func TestHungSetUp(t *testing.T) {
	for name, end := range map[string]func(w *world, ambit *exec.Cmd){
		"time-out": func(*world, *exec.Cmd) {},
		"killed": func(w *world, ambit *exec.Cmd) {
			w.must(syscall.Kill(ambit.Process.Pid, syscall.SIGKILL))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			cmd := w.sandbox(w.policyFlags("--timeout", "2s"), w.hungProgram(), w.mark())
			begin := time.Now()
			start(t, cmd)
			var launcher, hung int
			eventually(t, "the command is being executed", func() bool {
				if children := w.childrenOf(cmd.Process.Pid); len(children) == 1 {
					launcher = children[0]
				}
				if children := w.childrenOf(launcher); launcher != 0 && len(children) == 1 {
					hung = children[0]
				}
				return hung != 0
			})
			end(w, cmd)
			ws := waitFor(t, cmd)
			eventually(t, "the command is gone", func() bool { return syscall.Kill(hung, 0) == syscall.ESRCH })
			if took := time.Since(begin); took > patience(15*time.Second) {
				t.Errorf("it took %v", took)
			}
			if name == "time-out" && ws.ExitStatus() != 124 {
				t.Errorf("ended with %v, want 124", ws)
			}
			if fileExists(w.at("work/ran")) {
				t.Error("the command ran")
			}
		})
	}
}
