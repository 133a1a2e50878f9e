// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Options say what the broker decides by.
type Options struct {
	// Tree says what may be changed. Required.
	Tree *plan.Tree
	// Network decides over connecting sockets other than unix ones. The
	// default is that none may.
	Network plan.Network
	// Guard is the process id of the launcher, which the whole sandbox
	// descends from and which has not been waited for. The default, 0, makes
	// processes strangers to each other: what /proc/PID/fd and its like lead
	// to is then refused for every process but the caller, and so are signals.
	Guard int
	// Files has the calls served by which a tree with exceptions is enforced:
	// Landlock must cover all of them (ABI 2), and the command's ruleset must
	// grant nothing that the tree does not. The default, nil, answers them
	// with ENOSYS.
	Files *Files
	// Filter is what the filter was made of. The default, the zero value, traps
	// no call only to record its refusal.
	Filter seccomp.Config
	// Scope is where connections to abstract unix sockets are made from. The
	// default, nil, refuses them all with EPERM.
	Scope *Scope
}

// Broker serves one listener.
type Broker struct {
	options  Options
	listener int
	proc     int    // /proc
	fds      int    // /proc/self/fd
	stop     int    // readable when the broker shall stop
	self     string // "/PID/", our own directory under a /proc
	calls    map[int32]call
	covered  map[int32]call // those that Landlock covers too
	land     *territory     // what covered decides by
	log      recorder
	began    time.Time
	crew     crew
	// first is whether the first thread can serve.
	first chan error
	// threadPidfds: the kernel has pidfds of threads.
	threadPidfds bool
	room         room         // for calls that wait for somebody else
	waiting      atomic.Int32 // how many do
	started      atomic.Bool
	mu           sync.Mutex
	released     bool // the descriptors are closed, their numbers another's
	inner        inner
	// handed counts the calls that came, continued those that the kernel then
	// decided.
	handed, continued atomic.Int64
}

// New makes a broker and takes over the listener: the descriptor is the
// broker's from now on, even if New fails.
func New(listener int, o Options) (*Broker, error) {
	b := &Broker{options: o, listener: listener, proc: -1, fds: -1, stop: -1, calls: callTable(), inner: newInner(), first: make(chan error, 1), began: time.Now()}
	maps.Copy(b.calls, signalCalls())
	b.threadPidfds = sys.HasThreadPidfds()
	b.self = "/" + strconv.Itoa(os.Getpid()) + "/"
	if err := b.open(); err != nil {
		b.release()
		return nil, fmt.Errorf("cannot start the broker: %w", err)
	}
	if f := o.Files; f != nil {
		b.covered, b.land = fileCalls(), newTerritory(o.Tree, f, identify)
		b.land.list = list
		if !f.Truncate {
			delete(b.covered, syscall.SYS_TRUNCATE) // truncateAnywhere serves it
			delete(b.covered, nrOpenat2)            // its flags are in memory
		}
	}
	b.crew.init(func() { go (&worker{b: b}).run() })
	return b, nil
}

// places is what decides over names.
func (b *Broker) places() places {
	if b.land != nil {
		return b.land
	}
	return b.options.Tree
}

func (b *Broker) open() error {
	if b.options.Tree == nil {
		return errors.New("there is no path tree to decide by")
	}
	for _, dir := range []struct {
		fd   *int
		name string
	}{{&b.proc, "/proc"}, {&b.fds, "/proc/self/fd"}} {
		fd, errno := sys.Pin(sys.AtCWD, dir.name, 0)
		if errno != 0 {
			return &os.PathError{Op: "open", Path: dir.name, Err: errno}
		}
		*dir.fd = fd
		if kind, errno := sys.FSKindOf(fd); errno != 0 || !kind.Proc {
			return fmt.Errorf("%s is not on a proc file system", dir.name)
		}
	}
	// All numbers are compared with those that the kernel gives us.
	if self, errno := sys.ReadLinkAt(b.proc, "self"); errno != 0 || self != strconv.Itoa(os.Getpid()) {
		return errors.New("/proc belongs to another pid namespace")
	}
	// Before Linux 6.6 there is no such flag; the answers are the same, and
	// each takes longer.
	if err := sys.SetSyncWakeUp(b.listener); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	var err error
	b.stop, err = sys.NewWakeFD()
	return err
}

// Serve answers calls until no process is left that could make any, or Close
// is called. It is called once. The error tells of faults of the broker
// itself; the calls they concern were refused.
func (b *Broker) Serve() error {
	if b.started.Swap(true) {
		return errors.New("cannot serve: the broker has run already")
	}
	err := b.muster()
	if faults := b.log.faults(); faults != nil {
		err = errors.Join(err, faults)
	}
	return err
}

// Ready waits until Serve has a thread that can serve, and returns why there is
// none. Until then no call may be handed over: the command holds its own
// listener until it is executed, so that a call which nobody answers would wait
// for ever.
func (b *Broker) Ready() error {
	select {
	case err := <-b.first:
		return err
	case <-b.crew.over:
	}
	select {
	case err := <-b.first:
		return err
	default: // it was closed before
		return errClosed
	}
}

var errClosed = errors.New("it was closed before it served")

// Close ends Serve. Calls that wait, and all later ones, fail with ENOSYS as
// soon as the last call that is being served has ended.
func (b *Broker) Close() error {
	err := b.wake()
	if !b.started.Swap(true) {
		b.release()
	}
	return err
}

// wake stops the thread that waits for calls.
func (b *Broker) wake() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.released {
		return nil
	}
	return sys.Wake(b.stop)
}

// end stops all threads.
func (b *Broker) end() {
	if err := b.wake(); err != nil {
		b.log.fault(err)
	}
	b.crew.finish()
}

// Denials returns the calls that were refused, the oldest first, and how many
// more there were.
func (b *Broker) Denials() (list []denial.Denial, dropped int) { return b.log.denials() }

// release closes what New opened. No thread of the broker runs any more: one
// that did would use a number that may mean another descriptor by then.
func (b *Broker) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = true
	for _, fd := range []int{b.listener, b.proc, b.fds, b.stop} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

// Calls tells how many calls were handed over, and how many of them were left
// to the kernel. The rest was answered.
func (b *Broker) Calls() (handed, continued int64) { return b.handed.Load(), b.continued.Load() }
