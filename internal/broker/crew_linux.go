// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"sync"
	"sync/atomic"
	"time"
)

// crew is the broker's threads. One of them leads: it receives calls and
// serves them itself, so that a call costs two switches between caller and
// broker and wakes nobody else. When a call takes long (a file system that
// hangs, a connection), another thread takes over the lead, and the former
// leader comes back to wait for it.
type crew struct {
	leader  atomic.Pointer[worker]
	vacancy chan struct{} // holds one token while there is no leader
	over    chan struct{} // closed when all is over
	once    sync.Once
	members sync.WaitGroup
	hire    func()

	mu      sync.Mutex
	total   int // threads
	waiting int // those that wait for the lead

	asleep atomic.Bool   // the watch is
	wake   chan struct{} // wakes it
}

const (
	// maxWorkers bounds the threads, and with them the calls that can be
	// stuck at once. With all of them stuck, further calls wait.
	maxWorkers = 64
	// slow is how long a call may take before another thread leads, up to
	// twice that.
	slow = 5 * time.Millisecond
	// idleTicks is how many ticks without a call the watch stays awake for.
	idleTicks = 100
	// grace is how long Serve waits for the threads in the end. One that a
	// file system holds may take for ever.
	grace = 200 * time.Millisecond
)

func (c *crew) init(hire func()) {
	c.hire = hire
	c.vacancy = make(chan struct{}, 1)
	c.over = make(chan struct{})
	c.wake = make(chan struct{}, 1)
}

// muster runs the crew until all is over.
func (b *Broker) muster() error {
	c := &b.crew
	c.vacate()
	go c.watch()
	<-c.over
	gone := make(chan struct{})
	go func() {
		c.members.Wait()
		b.release()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(grace):
	}
	return nil
}

// vacate makes the lead free, and sees that there is a thread to take it.
func (c *crew) vacate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.over: // nobody is hired behind the back of members.Wait
		return
	case c.vacancy <- struct{}{}:
	default:
	}
	if c.waiting == 0 && c.total < maxWorkers {
		c.total++
		c.members.Add(1)
		c.hire()
	}
}

// waitForLead returns true when w leads, and false when w shall end: because
// all is over, or because others wait already.
func (c *crew) waitForLead(w *worker) bool {
	c.mu.Lock()
	if c.waiting > 0 && len(c.vacancy) == 0 {
		c.mu.Unlock()
		return false
	}
	c.waiting++
	c.mu.Unlock()
	ok := false
	select {
	case <-c.vacancy:
		w.state.Store(w.state.Load()&^doing | attending)
		c.leader.Store(w)
		ok = true
	case <-c.over:
	}
	c.mu.Lock()
	c.waiting--
	c.mu.Unlock()
	return ok
}

// depose takes the lead from w, if it still serves the call that state is of.
func (c *crew) depose(w *worker, state uint64) {
	if state&doing == serving && w.state.CompareAndSwap(state, state&^doing|deposed) {
		c.vacate()
	}
}

// finish lets every thread end as soon as it has answered its call.
func (c *crew) finish() {
	c.once.Do(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.over)
	})
}

func (c *crew) finished() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// left is a thread's last word.
func (c *crew) left() {
	c.mu.Lock()
	c.total--
	c.mu.Unlock()
	c.members.Done()
}

// stir tells the watch that there are calls to watch.
func (c *crew) stir() {
	if c.asleep.Load() && c.asleep.CompareAndSwap(true, false) {
		c.wake <- struct{}{}
	}
}

// watch takes the lead from a thread that is stuck in a call. It ticks only
// while there are calls: a timer per call would cost more than the call.
func (c *crew) watch() {
	tick := time.NewTicker(slow)
	defer tick.Stop()
	var last seen
	idle := 0
	for {
		select {
		case <-tick.C:
		case <-c.over:
			return
		}
		now := c.look()
		switch {
		case now.leader == nil:
		case now != last:
			idle = 0
		case now.state&doing == serving:
			c.depose(now.leader, now.state)
		default:
			if idle++; idle >= idleTicks && !c.sleep(tick, now) {
				return
			}
		}
		last = now
	}
}

// seen is who leads, and what it did at the time.
type seen struct {
	leader *worker
	state  uint64
}

func (c *crew) look() seen {
	w := c.leader.Load()
	if w == nil {
		return seen{}
	}
	return seen{w, w.state.Load()}
}

// sleep waits for the next call, and returns false if all is over.
func (c *crew) sleep(tick *time.Ticker, last seen) bool {
	tick.Stop()
	c.asleep.Store(true)
	if c.look() != last && c.asleep.CompareAndSwap(true, false) {
		tick.Reset(slow) // a call began before it could see that we sleep
		return true
	}
	select {
	case <-c.wake:
		tick.Reset(slow)
		return true
	case <-c.over:
		return false
	}
}
