// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

var (
	errBusy     = errors.New("too many runs are waiting")
	errWaited   = errors.New("no run ended in time")
	errShutdown = errors.New("the server is shutting down")
)

// queue bounds how many runs there are at once, and how many wait.
type queue struct {
	slots   chan struct{}
	most    int64
	patient time.Duration
	waiting atomic.Int64

	mu       sync.Mutex
	projects map[string]*turn
}

// turn is the lock of a project for runs that ask to be alone among those
// that ask the same.
type turn struct {
	lock  chan struct{}
	users int
}

func newQueue(concurrency, most int, patient time.Duration) *queue {
	return &queue{slots: make(chan struct{}, concurrency), most: int64(most), patient: patient, projects: map[string]*turn{}}
}

// place is what a run holds of the queue, or is to get.
type place struct {
	q       *queue
	project string
	turn    *turn // nil if the run need not be alone
	hasTurn bool
	hasSlot bool
}

// enter waits for a place; leave gives it back. A run that waits for its
// project's turn holds no slot meanwhile, and counts as waiting like any other.
func (q *queue) enter(ctx context.Context, project string, serialize bool) (leave func(), err error) {
	p := &place{q: q, project: project}
	if serialize {
		p.turn = q.turnOf(project)
	}
	// Nobody is overtaken by that: a channel gives what is freed to who waits.
	if p.now() {
		return p.leave, nil
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		p.leave()
		return nil, errBusy
	}
	defer q.waiting.Add(-1)
	ctx, cancel := context.WithTimeoutCause(ctx, q.patient, errWaited)
	defer cancel()
	if err := p.wait(ctx); err != nil {
		p.leave()
		return nil, err
	}
	return p.leave, nil
}

// turnOf returns the project's turn, of which the caller is a user until it
// leaves.
func (q *queue) turnOf(project string) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.projects[project]
	if t == nil {
		t = &turn{lock: make(chan struct{}, 1)}
		q.projects[project] = t
	}
	t.users++
	return t
}

// now takes what can be had without waiting, and reports whether it is all.
func (p *place) now() bool {
	if p.turn != nil {
		select {
		case p.turn.lock <- struct{}{}:
			p.hasTurn = true
		default:
			return false
		}
	}
	select {
	case p.q.slots <- struct{}{}:
		p.hasSlot = true
	default:
	}
	return p.hasSlot
}

// wait waits for what is missing.
func (p *place) wait(ctx context.Context) error {
	if p.turn != nil && !p.hasTurn {
		select {
		case p.turn.lock <- struct{}{}:
			p.hasTurn = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case p.q.slots <- struct{}{}:
		p.hasSlot = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave gives back what is held.
func (p *place) leave() {
	if p.hasSlot {
		<-p.q.slots
	}
	if p.turn == nil {
		return
	}
	if p.hasTurn {
		<-p.turn.lock
	}
	p.q.mu.Lock()
	defer p.q.mu.Unlock()
	if p.turn.users--; p.turn.users == 0 {
		delete(p.q.projects, p.project)
	}
}
