// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// room is where calls wait that only somebody else can end: connections, and
// FIFOs opened at one end. One thread tries for all of them, so that a call
// that waits costs a descriptor or two and no thread, and keeps nobody from
// being served.
type room struct {
	mu   sync.Mutex
	kick int // wakes the thread; its number is valid while it runs
	runs bool
	new  []*visitor
}

const (
	// maxWaiting bounds the calls that wait at one time: each holds up to two
	// descriptors of the broker. One more fails with EAGAIN.
	maxWaiting = 512
	// lookAgain is how often a waiting call looks after its caller, and
	// crowded is how many of them make that twice as long, and so on.
	lookAgain = 50 * time.Millisecond
	crowded   = 64
	// firstPause and longestPause are how long a call waits for what can't be
	// polled for.
	firstPause   = time.Millisecond
	longestPause = 20 * time.Millisecond
)

// later, as an answer, says that the call has moved to the waiting room, which
// will answer it. It is no errno of the kernel's.
const later = syscall.Errno(1<<16 + 1)

// visitor is a call that waits.
type visitor struct {
	t *task
	// try reports whether the wait is over, and with what result.
	try func() (bool, syscall.Errno)
	// leave ends the call, and returns its answer. It is always called.
	leave func(syscall.Errno) syscall.Errno
	// poll is a descriptor at which events tell that a try makes sense, or -1.
	// Tries are made without them too.
	poll   int
	events int16
	// timed: the socket has a limit for the wait.
	timed bool
	// shared are the process's signals that waited at the last look.
	shared uint64

	pause        time.Duration
	next, looked time.Time
}

// await moves a call to the waiting room. Others are served meanwhile.
func (t *task) await(v *visitor) syscall.Errno {
	b := t.b
	if b.waiting.Add(1) > maxWaiting {
		b.waiting.Add(-1)
		return v.leave(syscall.EAGAIN)
	}
	now := time.Now()
	v.pause, v.next, v.looked = firstPause, now.Add(firstPause), now
	if err := b.receive(v); err != nil {
		b.waiting.Add(-1)
		b.log.fault(err)
		return v.leave(syscall.EAGAIN)
	}
	return later
}

// receive gives a call to the room's thread, and starts it with the first one.
// The worker that calls is a member of the crew, so the crew can't have ended.
func (b *Broker) receive(v *visitor) error {
	r := &b.room
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.runs {
		kick, err := sys.NewWakeFD()
		if err != nil {
			return fmt.Errorf("cannot let calls wait: %w", err)
		}
		r.kick, r.runs = kick, true
		b.crew.members.Add(1)
		go b.attend()
	}
	r.new = append(r.new, v)
	return sys.Wake(r.kick)
}

// attend is the life of the room's thread, which has no more rights than any
// worker. It ends when nobody waits any more, or all is over.
func (b *Broker) attend() {
	defer b.crew.members.Done()
	runtime.LockOSThread() // and never unlocked, as in worker.run
	w := &worker{b: b}
	if err := w.prepare(); err != nil {
		b.log.fault(err)
		b.end()
		return
	}
	var inside []*visitor
	for over := false; ; over = len(inside) > 0 && b.rest(inside) {
		inside = append(inside, b.arrivals(len(inside) == 0)...)
		if len(inside) == 0 {
			return
		}
		inside = w.round(inside, over)
	}
}

// rest waits until a try makes sense for somebody, and reports whether all is
// over.
func (b *Broker) rest(inside []*visitor) bool {
	fds := []sys.PollFD{{Fd: int32(b.room.kick), Events: sys.PollIn}, {Fd: int32(b.stop), Events: sys.PollIn}}
	next := time.Now().Add(longestPause)
	for _, v := range inside {
		fds = append(fds, sys.PollFD{Fd: int32(v.poll), Events: v.events}) // negative ones count for nothing
		if v.next.Before(next) {
			next = v.next
		}
	}
	if errno := sys.Poll(fds, max(0, time.Until(next))); errno != 0 {
		return true
	}
	for i, v := range inside {
		if fds[i+2].Revents != 0 {
			v.next, v.poll = time.Time{}, -1 // once: what it has to say may not be the end
		}
	}
	return fds[1].Revents != 0 || b.crew.finished()
}

// arrivals returns those that are new. If there is nobody, and nobody is
// inside, the room is closed.
func (b *Broker) arrivals(empty bool) []*visitor {
	r := &b.room
	r.mu.Lock()
	defer r.mu.Unlock()
	sys.Drain(r.kick)
	list := r.new
	r.new = nil
	if empty && len(list) == 0 {
		r.runs = false
		_ = syscall.Close(r.kick)
	}
	return list
}

// round tries for everybody whose time has come, and returns who stays.
func (w *worker) round(inside []*visitor, over bool) []*visitor {
	stay := inside[:0]
	for _, v := range inside {
		errno, done := syscall.EINTR, over
		if !over {
			errno, done = w.tend(v, len(inside))
		}
		if !done {
			stay = append(stay, v)
			continue
		}
		w.dismiss(v, errno)
	}
	clear(inside[len(stay):])
	return stay
}

// tend looks after one call, and reports whether its wait is over.
func (w *worker) tend(v *visitor, crowd int) (errno syscall.Errno, done bool) {
	defer func() {
		if p := recover(); p != nil {
			w.b.log.fault(fmt.Errorf("internal error: waiting for call %d: %v\n%s", v.t.nr, p, debug.Stack()))
			errno, done = syscall.EACCES, true
		}
	}()
	now := time.Now()
	if now.Before(v.next) {
		return 0, false
	}
	v.pause = min(v.pause*2, longestPause)
	v.next = now.Add(v.pause)
	if ok, errno := v.try(); ok {
		return errno, true
	}
	if now.Sub(v.looked) >= lookAgain*time.Duration(1+crowd/crowded) {
		v.looked = now
		if errno := v.look(); errno != 0 {
			return errno, true
		}
	}
	return 0, false
}

// dismiss answers a call.
func (w *worker) dismiss(v *visitor, errno syscall.Errno) {
	errno = v.leave(errno)
	w.b.waiting.Add(-1)
	// That the caller was killed is all that can go wrong.
	_ = w.buf.Answer(w.b.listener, v.t.id, v.t.value, errno)
}
