// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

// Server answers requests.
type Server struct {
	// Listening, if it is set, is called by [Server.Serve] when the service
	// listens, with the address.
	Listening func(net.Addr)

	config  *Config
	engine  Engine
	log     *slog.Logger
	journal *journal.Journal
	queue   *queue
	memory  *memory
	health  *health
	metrics *metrics
	active  *active
	pages   *pages

	// stop ends every run, with errShutdown as its cause.
	starting sync.Mutex
	running  context.Context
	stop     context.CancelCauseFunc
	runs     sync.WaitGroup

	mounted []mount
}

// New opens the journal and looks whether commands can be run here.
func New(ctx context.Context, c *Config, e Engine, log *slog.Logger) (*Server, error) {
	j, err := c.openJournal()
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, engine: e, log: log, journal: j, memory: newMemory(), metrics: newMetrics(),
		active: newActive(), pages: newPages(),
		queue: newQueue(c.Concurrency, *c.Queue, time.Duration(c.QueueTimeout))}
	s.running, s.stop = context.WithCancelCause(context.Background())
	s.health = &health{probe: s.look, log: log}
	s.health.refresh(ctx)
	return s, nil
}

// Time-outs of connections. Those of bodies and answers are in arriving and
// answering.
const (
	headerTime = 10 * time.Second
	stopTime   = 20 * time.Second
	maxHeader  = 16 << 10
)

// Serve listens and answers until ctx ends; then it ends the running trees,
// answers who waits for them, and returns.
func (s *Server) Serve(ctx context.Context) error {
	l, err := listen(s.config)
	if err != nil {
		return err
	}
	idle := time.Duration(s.config.IdleTimeout)
	h := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: min(headerTime, idle), IdleTimeout: idle, MaxHeaderBytes: maxHeader,
		ConnContext: withPeer, ConnState: newCrowd(s.config.MaxConnections).note, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.log.Info("listening", "address", l.Addr().String(), "sandbox", s.health.state().Available)
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	if s.Listening != nil {
		s.Listening(l.Addr())
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		s.log.Info("shutting down")
		s.halt()
		end, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err = h.Shutdown(end); err != nil {
			_ = h.Close()
		}
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, s.Close())
}

// handler is the table of what is answered. Liveness and readiness are not
// secret, and need no token.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", s.ready)
	known := func(pattern string, h func(http.ResponseWriter, *http.Request, string)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			who, p := s.identify(r)
			if p != nil {
				s.metrics.refused(p.Code)
				if p.Status == http.StatusUnauthorized {
					challenge(w, r)
				}
				p.answer().send(w)
				return
			}
			h(w, r, who)
		})
	}
	known("POST /api/execute", s.execute)
	known("POST /api/probe", s.probe)
	known("GET /health", s.showHealth)
	known("GET /metrics", s.showMetrics)
	known("GET /api/openapi.json", s.showOpenAPI)
	known(statusPattern, s.showStatus)
	known(runPattern, s.showRun)
	known("/api/execute", s.wrongMethod)
	for _, m := range s.mounted {
		known(m.path, s.bounded(m.answer))
	}
	known("/", func(w http.ResponseWriter, _ *http.Request, _ string) {
		newProblem(http.StatusNotFound, codeNotFound, "there is nothing at this path").answer().send(w)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		stall := time.Duration(s.config.StallTimeout)
		boundBody(w, r, stall)
		mux.ServeHTTP(&answering{w, stall}, r)
	})
}

func (s *Server) wrongMethod(w http.ResponseWriter, _ *http.Request, _ string) {
	w.Header().Set("Allow", "POST")
	newProblem(http.StatusMethodNotAllowed, codeMethod, "only POST is answered here").answer().send(w)
}
