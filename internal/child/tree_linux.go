// SPDX-License-Identifier: Apache-2.0

package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// enterGuardDomain puts this thread into a Landlock domain of its own that
// scopes signals (and restricts no file), unless it is in one already. The
// command's domain nests in it, so that kill(-1) from here means "every
// process of this tree, and nothing else", at once, however fast the tree
// forks.
//
// That it does is asked of the kernel, not believed: a signal to the
// supervisor, which runs under the same user, must be refused with EPERM.
func (l *launcher) enterGuardDomain() error {
	if l.spec.Guard == NoGuard {
		return nil
	}
	if l.spec.Guard == EnterGuard {
		if err := sys.SetNoNewPrivs(); err != nil {
			return &StepError{"set no_new_privs", "launcher", err}
		}
		if err := sys.LandlockRestrictSelf(l.files.Guard, 0); err != nil {
			return &StepError{"landlock_restrict_self", "launcher", err}
		}
	}
	err := sys.Kill(l.parent, 0)
	l.scoped = isErrno(err, syscall.EPERM)
	return nil
}

func isErrno(err error, want syscall.Errno) bool { return errnoOf(err) == uint32(want) && err != nil }

// sweepTime bounds how long the launcher tries to end what the command left.
// Only a process that the kernel itself holds (state D) survives SIGKILL.
const sweepTime = 30 * time.Second

// leftBehind tells the supervisor so.
var leftBehind = message{kind: msgLeft, number: uint32(sweepTime / time.Second)}

// reap waits for the command, reports its end, and ends everything else that
// is left of its tree; or ends everything at once when the supervisor goes.
func (l *launcher) reap(started bool) {
	type child struct {
		pid int
		ws  syscall.WaitStatus
	}
	children := make(chan child)
	go func() {
		defer close(children)
		for {
			pid, ws, err := sys.Wait()
			if err != nil { // ECHILD: no child is left
				return
			}
			children <- child{pid, ws}
		}
	}()
	gone := l.gone
	var sweep <-chan time.Time
	var end <-chan time.Time
	begin := func() {
		if sweep == nil {
			tick := time.NewTicker(5 * time.Millisecond)
			sweep, end = tick.C, time.After(sweepTime)
			l.killTree()
		}
	}
	for {
		select {
		case c, ok := <-children:
			if !ok {
				return
			}
			if c.ws.Stopped() {
				// It made us its tracer (PTRACE_TRACEME); this is the thread.
				sys.Detach(c.pid, c.ws)
			} else if c.pid == l.pid {
				l.commandEnded(c.ws, started)
				begin()
			} else if sweep != nil {
				l.killTree()
			}
		case <-gone:
			gone = nil
			begin()
		case <-sweep:
			l.killTree()
		case <-end:
			l.send(leftBehind)
			return
		}
	}
}

func (l *launcher) commandEnded(ws syscall.WaitStatus, started bool) {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	if started {
		l.send(message{kind: msgEnded, number: uint32(ws)})
	}
}

// killTree sends SIGKILL to everything below this process. Without a scope it
// can reach only its children for certain: their process ids can't be reused
// before it has waited for them. Their own children then become ours, and the
// next sweep reaches those.
func (l *launcher) killTree() {
	if l.scoped {
		_ = sys.Kill(-1, syscall.SIGKILL)
		return
	}
	for _, pid := range Children(os.Getpid()) {
		_ = sys.Kill(pid, syscall.SIGKILL)
	}
}

// Children lists the children of a process. It looks at every process of
// this view of /proc: the shorter list in /proc/PID/task/TID/children is
// there only with CONFIG_PROC_CHILDREN.
func Children(parent int) []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	var out []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && parentOf(pid) == parent {
			out = append(out, pid)
		}
	}
	return out
}

// parentOf reads the fourth field of /proc/PID/stat, behind the command name,
// which may itself hold blanks and parentheses (proc_pid_stat(5)).
func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 2 {
		return -1
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return -1
	}
	return ppid
}
