// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"os"
	"runtime"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Launcher is a launcher process that waits for its command.
type Launcher struct {
	control *os.File
	pid     int
	guard   *Guard
}

// self is this very binary, whatever has happened to its name since.
const self = "/proc/self/exe"

// launcherEnv is the launcher's own environment, which the command never
// sees. The launcher lives on little memory and never long enough to collect
// any. While its first thread waits for the command to be executed, another one
// must run (GOMAXPROCS), on a machine with one processor too.
var launcherEnv = []string{"GOGC=off", "GOMEMLIMIT=64MiB", "GOMAXPROCS=2"}

// Start starts a launcher in a guard domain. [Launcher.Run] or
// [Launcher.Abort] must follow.
func Start(guard *Guard) (*Launcher, error) {
	ours, theirs, err := sys.ControlPair()
	if err != nil {
		return nil, &child.StepError{Step: "socketpair", Err: err}
	}
	defer func() { _ = theirs.Close() }()
	l := &Launcher{control: ours, guard: guard}
	// Not by package os, whose process handles cost a test fork and buy
	// nothing here: the pid can't be another's before it is waited for.
	guard.on(func() {
		l.pid, err = syscall.ForkExec(self, []string{"ambit", child.Arg}, &syscall.ProcAttr{
			Files: []uintptr{0, 1, 2, theirs.Fd()}, Env: launcherEnv,
		})
	})
	runtime.KeepAlive(theirs)
	if err != nil {
		_ = ours.Close()
		return nil, &child.StepError{Step: "start the launcher", Object: self, Err: err}
	}
	return l, nil
}

// Abort ends a launcher that has not been used, or does nothing.
func (l *Launcher) Abort() {
	if l == nil || l.control == nil {
		return
	}
	_ = l.control.Close()
	l.control = nil
	sys.WaitFor(l.pid)
}

// PID returns the launcher's process id.
func (l *Launcher) PID() int { return l.pid }
