// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// children tells the processes that this one has started from those that fell
// to it.
//
// This process is a subreaper: what a run leaves whose supervisor and launcher
// were both killed becomes a child of this process. A run that goes on has a
// launcher, or a supervisor, that is the nearer subreaper. So a process of a
// run that is a child of this one belongs to a run that is dead, whichever.
//
// A process of a run has one seccomp filter at least more than this process.
// It can't take that off: filters are inherited by fork and kept by execve
// (seccomp(2)). Children without one more are left alone: they may have fallen
// to this process from elsewhere, since it may be the first of a container, or
// have been executed by a shell with jobs.
//
// Children belong to the whole process, so there is one of these in a process.
type children struct {
	// mu is held while a child is started or waited for: a child that is not
	// in own was not started by us, and its number stays its own.
	mu  sync.Mutex
	own map[int]bool
	// sweeping is held by the one that ends what is left.
	sweeping sync.Mutex
	left     atomic.Bool // the last pass did not end everything
}

// adopt makes this process the one that orphans fall to. Children that it has
// already got with its own execution are spared.
func adopt() (*children, error) {
	c := &children{own: map[int]bool{}}
	if sys.HasChildren() {
		for _, pid := range child.Children(os.Getpid()) {
			c.own[pid] = true
		}
	}
	return c, sys.BecomeSubreaper()
}

// start has f start a child.
func (c *children) start(f func() (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := f()
	if err == nil {
		c.own[pid] = true
	}
	return pid, err
}

// wait waits for a child that was started.
func (c *children) wait(pid int) syscall.WaitStatus {
	sys.AwaitEnd(pid)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.own, pid)
	return sys.WaitFor(pid)
}

// reap waits for a process that fell to us, if it has ended.
func (c *children) reap(pidfd int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sys.ReapEnded(pidfd)
}

// sweepTime bounds how long it is tried to end what dead runs have left.
const sweepTime = 30 * time.Second

// sweep ends what dead runs have left, and reports whether nothing is left.
// The supervisor and the launcher of the run that it is called for must have
// ended: then everything of that run has fallen to this process, or is below
// something that has.
func (c *children) sweep(most time.Duration) bool {
	c.sweeping.Lock()
	defer c.sweeping.Unlock()
	for end := time.Now().Add(most); ; time.Sleep(sweepPause) {
		found, err := c.pass()
		c.left.Store(found > 0 || err != nil)
		if !c.left.Load() || err != nil || time.Now().After(end) {
			return !c.left.Load()
		}
	}
}

// sweepPause is between two passes: processes that were killed need the
// processor to end.
const sweepPause = 500 * time.Microsecond

// again makes one more pass if the last one left something. It waits for no
// sweep that is under way, which is another run's matter.
func (c *children) again() {
	if !c.left.Load() || !c.sweeping.TryLock() {
		return
	}
	defer c.sweeping.Unlock()
	found, err := c.pass()
	c.left.Store(found > 0 || err != nil)
}

// pass kills or reaps every orphan, and returns how many there were. Each tree
// of orphans hangs on a child of this process, which nobody but this function
// waits for. So it is in the list for as long as the list is made, however fast
// it forks and ends, and a pass that finds none proves that there was none.
func (c *children) pass() (found int, err error) {
	filters, err := filtersOf("self")
	if err != nil {
		return 0, err
	}
	for _, pid := range child.Children(os.Getpid()) {
		if c.end(pid, filters) {
			found++
		}
	}
	return found, nil
}

// end kills or reaps a child, unless it is one of our own or has no more
// filters than this process.
func (c *children) end(pid, filters int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own[pid] {
		return false
	}
	reaped, err := syscall.Wait4(pid, nil, syscall.WNOHANG|syscall.WALL, nil)
	if err == syscall.ECHILD {
		return false // one of our own, which was waited for since it was listed
	}
	if reaped == pid {
		return true
	}
	n, err := filtersOf(strconv.Itoa(pid))
	if err == nil && n <= filters {
		return false
	}
	_ = sys.Kill(pid, syscall.SIGKILL)
	return true
}

// filtersOf is how many seccomp filters a process has (proc_pid_status(5),
// Seccomp_filters, since Linux 5.9). No other line can look like it: a line
// feed in the name is escaped.
func filtersOf(pid string) (int, error) {
	const name = "\nSeccomp_filters:\t"
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, err
	}
	_, value, found := strings.Cut(string(text), name)
	if !found {
		return 0, fmt.Errorf("cannot tell how many filters process %s has", pid)
	}
	value, _, _ = strings.Cut(value, "\n")
	return strconv.Atoi(value)
}
