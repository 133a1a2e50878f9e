// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// worker is a thread that serves calls.
type worker struct {
	b   *Broker
	buf *sys.NotifyBuffer
	// state is how many calls the worker began to serve, above two bits that
	// hold what it does now.
	state atomic.Uint64
	bell  *sys.Bell // nil until it is needed
	// familiar is nil where descriptors are too scarce to keep any.
	familiar *familiar
	// umask is the thread's, if it was set; above it stands one bit.
	umask int
}

// wearUmask makes a caller's umask the thread's, which often has it already.
func (w *worker) wearUmask(mask int) {
	const set = 1 << 16
	if w.umask != mask|set {
		sys.SetThreadUmask(mask)
		w.umask = mask | set
	}
}

// What a worker does, in its state. One word holds it together with the
// count, so that the lead is taken from it while it serves the very call that
// took too long, or not at all. A worker that waits for a call can't be
// deposed: it could not be told.
const (
	attending = 1 + iota // leads, and waits for a call
	serving              // leads, and serves one
	deposed              // serves one while another leads
	doing     = 3        // the bits' mask
	oneCall   = doing + 1
)

func (w *worker) begin() {
	w.state.Store(w.state.Load()&^doing + oneCall | serving)
	w.b.crew.stir()
}

// done reports whether the worker still leads.
func (w *worker) done() bool {
	s := w.state.Load()
	return s&doing == serving && w.state.CompareAndSwap(s, s&^doing|attending)
}

// run is a worker's life. The thread is locked to it, and never unlocked, so
// that it ends with the worker: it has no capabilities and no signals left,
// and no other goroutine shall inherit that.
func (w *worker) run() {
	runtime.LockOSThread()
	defer w.b.crew.left()
	defer func() {
		if w.bell != nil {
			w.bell.Close()
		}
		if w.familiar != nil {
			w.familiar.close()
		}
	}()
	err := w.prepare()
	select {
	case w.b.first <- err:
	default: // it is not the first
	}
	if err != nil {
		w.b.log.fault(err)
		w.b.end()
		return
	}
	for w.b.crew.waitForLead(w) {
		w.lead()
	}
}

func (w *worker) prepare() (err error) {
	if err = sys.BlockThreadSignals(); err != nil {
		return fmt.Errorf("cannot block signals: %w", err)
	}
	if err = sys.DropThreadCapabilities(); err != nil {
		return fmt.Errorf("cannot drop capabilities: %w", err)
	}
	if w.b.covered != nil { // each worker takes on the umask of its caller
		if err = sys.PartThreadFS(); err != nil {
			return fmt.Errorf("cannot have an umask of its own: %w", err)
		}
	}
	if sys.HasDescriptors(familiarLimit) {
		w.familiar = &familiar{}
	}
	w.buf, err = sys.NewNotifyBuffer()
	return err
}

// lead serves calls until the lead is another worker's, or all is over.
func (w *worker) lead() {
	for leads := true; leads; {
		why, err := sys.WaitNotification(w.b.listener, w.b.stop)
		switch {
		case err != nil:
		case why.Stopped, why.Deserted && !why.Pending:
			w.b.end()
			return
		default:
			leads, err = w.next()
		}
		if err != nil {
			w.b.log.fault(err)
			w.b.end()
			return
		}
	}
}

// next receives one call and answers it. It reports whether the worker still
// leads.
func (w *worker) next() (bool, error) {
	n, err := w.buf.Receive(w.b.listener)
	if errors.Is(err, syscall.ENOENT) {
		return true, nil // the caller was killed before it could be heard
	}
	if err != nil {
		return true, err
	}
	w.begin()
	t := &task{b: w.b, w: w, id: n.ID, tid: int(n.TID), nr: n.Nr, args: n.Args}
	w.b.handed.Add(1)
	switch value, errno := w.serve(t); errno {
	case later: // it is the waiting room's
	case letKernel:
		w.b.continued.Add(1)
		err = w.buf.Continue(w.b.listener, t.id)
	default:
		err = w.buf.Answer(w.b.listener, t.id, value, errno)
	}
	leads := w.done()
	if errors.Is(err, syscall.ENOENT) {
		err = nil // killed in the meantime
	}
	return leads, err
}

// serve runs the call's row of the table. A panic is our own mistake: the
// call is refused, since nothing is known of it, and the fault reported.
func (w *worker) serve(t *task) (value int64, errno syscall.Errno) {
	defer func() {
		if p := recover(); p != nil {
			w.b.log.fault(fmt.Errorf("internal error: serving call %d: %v\n%s", t.nr, p, debug.Stack()))
			value, errno = 0, syscall.EACCES
		}
	}()
	if t.nr == sysRestrictSelf {
		return 0, restrictSelf(t)
	}
	if c, ok := w.b.covered[t.nr]; ok {
		t.call, t.inner = c.name, t.restricted()
		return t.outcome(c.serve(t))
	}
	c, ok := w.b.calls[t.nr]
	if !ok {
		return 0, answerRefusal(t)
	}
	t.call = c.name
	switch errno = c.serve(t); errno {
	case letKernel:
		errno = syscall.EACCES // Landlock does not cover it: never
	case toItself:
		errno = letKernel
	}
	return t.outcome(errno)
}

// outcome is what a served call comes to. One that waits is not the worker's
// any more.
func (t *task) outcome(errno syscall.Errno) (int64, syscall.Errno) {
	if errno == later {
		return 0, later
	}
	return t.value, errno
}
