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

// enter waits for a place; leave gives it back. A run that waits for its
// project's turn holds no place meanwhile.
func (q *queue) enter(ctx context.Context, project string, serialize bool) (leave func(), err error) {
	if !serialize {
		select {
		case q.slots <- struct{}{}:
			return func() { <-q.slots }, nil
		default:
		}
	}
	if q.waiting.Add(1) > q.most && !(serialize && q.idle()) {
		q.waiting.Add(-1)
		return nil, errBusy
	}
	defer q.waiting.Add(-1)
	ctx, cancel := context.WithTimeoutCause(ctx, q.patient, errWaited)
	defer cancel()
	unlock := func() {}
	if serialize {
		if unlock, err = q.lock(ctx, project); err != nil {
			return nil, err
		}
	}
	select {
	case q.slots <- struct{}{}:
		return func() { <-q.slots; unlock() }, nil
	case <-ctx.Done():
		unlock()
		return nil, context.Cause(ctx)
	}
}

// idle lets a serialised run in where no queue is wanted.
func (q *queue) idle() bool { return len(q.slots) < cap(q.slots) }

func (q *queue) lock(ctx context.Context, project string) (unlock func(), err error) {
	q.mu.Lock()
	t := q.projects[project]
	if t == nil {
		t = &turn{lock: make(chan struct{}, 1)}
		q.projects[project] = t
	}
	t.users++
	q.mu.Unlock()
	leave := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(q.projects, project)
		}
	}
	select {
	case t.lock <- struct{}{}:
		return func() { <-t.lock; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
