// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"runtime"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Scope is a thread in a Landlock domain that scopes abstract unix sockets,
// and nothing else. A command whose launcher was started on that thread is in
// a domain nested in this one, so the kernel lets the thread connect to the
// command's abstract sockets and to no others (landlock(7), "Scope flags"),
// exactly as it would the command.
type Scope struct{ jobs chan func() }

// NewScope starts the thread. It needs Landlock ABI 6 (Linux 6.12); EINVAL
// says that the kernel has less.
func NewScope() (*Scope, error) {
	s := &Scope{jobs: make(chan func())}
	ready := make(chan error)
	go s.run(ready)
	if err := <-ready; err != nil {
		return nil, fmt.Errorf("cannot make a scope for abstract sockets: %w", err)
	}
	return s, nil
}

// run is locked to its thread for good: the domain is the thread's.
func (s *Scope) run(ready chan<- error) {
	runtime.LockOSThread()
	err := enterScope()
	ready <- err
	if err != nil {
		return
	}
	for job := range s.jobs {
		job()
	}
}

func enterScope() error {
	ruleset, err := sys.LandlockCreateRuleset(sys.Ruleset{Scoped: sys.ScopeAbstractUnix})
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(ruleset) }()
	if err := sys.SetNoNewPrivs(); err != nil {
		return err
	}
	return sys.LandlockRestrictSelf(ruleset, 0)
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
