// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"runtime"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Scope is a thread in a Landlock domain that scopes abstract unix sockets. A
// command whose launcher was started on that thread is in a domain nested in
// this one, so the kernel lets the thread connect to the command's abstract
// sockets and to no others (landlock(7), "Scope flags"), exactly as it would
// the command.
type Scope struct{ jobs chan func() }

// NewScope starts the thread and puts it into a domain made of ruleset, which
// scopes abstract unix sockets (Landlock ABI 6, Linux 6.12) and may scope
// signals; it must leave files alone.
func NewScope(ruleset int) (*Scope, error) {
	s := &Scope{jobs: make(chan func())}
	ready := make(chan error)
	go s.run(ruleset, ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("cannot make a scope for abstract sockets: %w", err)
	}
	return s, nil
}

// run is locked to its thread for good: the domain is the thread's. It is
// never the process's first thread, whose domain counts as the process's own
// for a signal that is sent to it.
func (s *Scope) run(ruleset int, ready chan<- error) {
	runtime.LockOSThread()
	if sys.OnFirstThread() {
		moved := make(chan error)
		go s.run(ruleset, moved)
		ready <- <-moved // until then this thread is taken, the other can't be it
		runtime.UnlockOSThread()
		return
	}
	err := sys.SetNoNewPrivs()
	if err == nil {
		err = sys.LandlockRestrictSelf(ruleset, 0)
	}
	ready <- err
	if err != nil {
		return
	}
	for job := range s.jobs {
		job()
	}
}

// Do runs f on the thread and returns when it has returned. Processes that f
// starts are inside the scope. The thread is their parent: it must outlive
// them where they asked for a signal at its end (PR_SET_PDEATHSIG).
func (s *Scope) Do(f func()) {
	done := make(chan struct{})
	s.jobs <- func() {
		defer close(done)
		f()
	}
	<-done
}

func (s *Scope) connect(sock int, addr []byte) (errno syscall.Errno) {
	s.Do(func() { errno = sys.Connect(sock, addr) })
	return errno
}

// Close ends the thread. No Do may follow.
func (s *Scope) Close() { close(s.jobs) }
