// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/sha256"
	"sync"
	"time"
)

// Bounds of what is remembered: a client that repeats later than that runs its
// command again.
const (
	rememberTime  = 10 * time.Minute
	rememberCount = 1024
	rememberBytes = 64 << 20
)

// memory remembers the answers to requests with a key.
type memory struct {
	mu      sync.Mutex
	entries map[string]*memo
	order   []string // of those that are answered, oldest first
	bytes   int
}

// memo is one request: in flight until done is closed.
type memo struct {
	body   [sha256.Size]byte
	done   chan struct{}
	answer *answer
	at     time.Time
}

func newMemory() *memory { return &memory{entries: map[string]*memo{}} }

// begin returns the request's memo; first says that the caller is to answer
// it. ok is false if the key was used with another body.
func (m *memory) begin(key string, body []byte) (e *memo, first, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(time.Now().Add(-rememberTime))
	sum := sha256.Sum256(body)
	if e := m.entries[key]; e != nil {
		return e, false, e.body == sum
	}
	e = &memo{body: sum, done: make(chan struct{})}
	m.entries[key] = e
	return e, true, true
}

// end keeps the answer if a command ran. What did not run may be tried again.
func (m *memory) end(key string, e *memo, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.answer, e.at = a, time.Now()
	close(e.done)
	if a == nil || !a.executed {
		delete(m.entries, key)
		return
	}
	m.order = append(m.order, key)
	m.bytes += len(a.body)
	m.forget(e.at.Add(-rememberTime))
}

// forget drops what is too old or too much.
func (m *memory) forget(before time.Time) {
	for len(m.order) > 0 {
		e := m.entries[m.order[0]]
		if len(m.order) <= rememberCount && m.bytes <= rememberBytes && !e.at.Before(before) {
			return
		}
		m.bytes -= len(e.answer.body)
		delete(m.entries, m.order[0])
		m.order = m.order[1:]
	}
}
