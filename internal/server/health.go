// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-sandbox/ambit"
)

// sandboxState is the result of the last real sandboxed command.
type sandboxState struct {
	Available bool      `json:"available"`
	Backend   string    `json:"backend"`
	Detail    string    `json:"detail"`
	Checked   time.Time `json:"checked"`
	TookMS    float64   `json:"took_ms"`
}

// probeEvery is the least time between two looks that somebody asked for.
const probeEvery = 2 * time.Second

// health knows whether commands can be run.
type health struct {
	probe func(context.Context) (*ambit.Host, error)
	log   *slog.Logger

	looking sync.Mutex // one look at a time
	doubted atomic.Bool
	mu      sync.Mutex
	last    sandboxState
}

func (h *health) state() sandboxState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// refresh looks again, unless that was done a moment ago: who waits for
// another's look takes its result.
func (h *health) refresh(ctx context.Context) sandboxState {
	h.looking.Lock()
	defer h.looking.Unlock()
	if last := h.state(); !last.Checked.IsZero() && time.Since(last.Checked) < probeEvery {
		return last
	}
	begin := time.Now()
	host, err := h.probe(ctx)
	if err != nil && ctx.Err() != nil {
		return h.state() // who asked has left: nothing was learnt
	}
	now := sandboxState{Checked: time.Now(), TookMS: float64(time.Since(begin).Microseconds()) / 1000}
	switch {
	case err != nil:
		now.Detail = err.Error()
	default:
		now.Available, now.Backend, now.Detail = host.Works, host.Backend, host.Reason
	}
	if !now.Available {
		h.log.Error("no sandbox can be made", "backend", now.Backend, "reason", now.Detail)
	}
	h.mu.Lock()
	h.last = now
	h.mu.Unlock()
	return now
}

// doubt looks again after a run that could not be set up. The last look may
// have been just before it, so this one comes in any case, if not at once.
func (h *health) doubt(ctx context.Context) {
	if !h.doubted.CompareAndSwap(false, true) {
		return // one that is still to begin sees this run's reason too
	}
	select {
	case <-time.After(probeEvery - time.Since(h.state().Checked)):
	case <-ctx.Done():
		return
	}
	h.doubted.Store(false)
	h.refresh(ctx)
}

// healthAnswer is GET /health.
type healthAnswer struct {
	Status  string       `json:"status"`
	Sandbox sandboxState `json:"shell_sandbox"`
	Journal journalState `json:"journal"`
	Limits  string       `json:"limits"`
	Running int          `json:"running"`
	Waiting int64        `json:"waiting"`
}

type journalState struct {
	OK        bool   `json:"ok"`
	Detail    string `json:"detail,omitempty"`
	LostLines int64  `json:"lost_lines"`
}

func (s *Server) showHealth(w http.ResponseWriter, r *http.Request, _ string) {
	if r.URL.Query().Get("fresh") == "1" {
		s.health.refresh(r.Context())
	}
	sendJSON(w, http.StatusOK, s.healthAnswer())
}

func (s *Server) healthAnswer() healthAnswer {
	a := healthAnswer{Status: "ok", Sandbox: s.health.state(), Limits: s.engine.Limits(), Running: len(s.queue.slots), Waiting: s.queue.waiting.Load()}
	lost, err := s.journal.State()
	a.Journal = journalState{OK: err == nil, LostLines: lost}
	if err != nil {
		a.Journal.Detail = err.Error()
	}
	if !a.Sandbox.Available || err != nil {
		a.Status = "degraded"
	}
	return a
}

func (s *Server) probe(w http.ResponseWriter, r *http.Request, _ string) {
	sendJSON(w, http.StatusOK, s.health.refresh(r.Context()))
}

// ready says whether a run would be taken now. It tells no more than that.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.running.Err() != nil || !s.health.state().Available {
		sendJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "unavailable"})
		return
	}
	if _, err := s.journal.State(); err != nil && s.config.JournalRequired {
		sendJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "unavailable"})
		return
	}
	sendJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}
