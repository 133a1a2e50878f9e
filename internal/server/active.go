// SPDX-License-Identifier: Apache-2.0

package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

// active are the runs that are under way.
type active struct {
	mu   sync.Mutex
	runs map[string]*journal.Start
}

func newActive() *active { return &active{runs: map[string]*journal.Start{}} }

// add notes a run until remove is called.
func (a *active) add(s *journal.Start) (remove func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[s.ID] = s
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.runs, s.ID)
	}
}

// list returns them, newest first. A start is never changed.
func (a *active) list() []*journal.Start {
	a.mu.Lock()
	runs := slices.Collect(maps.Values(a.runs))
	a.mu.Unlock()
	slices.SortFunc(runs, func(x, y *journal.Start) int { return y.Time.Compare(x.Time) })
	return runs
}

func (a *active) get(id string) *journal.Start {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[id]
}
