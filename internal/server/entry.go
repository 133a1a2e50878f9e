// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
)

// Answer is what a request over HTTP is answered with: JSON.
type Answer struct {
	Status int
	Body   []byte
}

// Execute answers what POST /api/execute would: it is the same request, goes
// the same way, and is bounded by the same configuration. Who asks was found
// out by the caller. The end of ctx ends the command.
func (s *Server) Execute(ctx context.Context, who string, body []byte, p *Progress) *Answer {
	a := s.executeFor(ctx, who, body, p)
	return &Answer{Status: a.status, Body: a.body}
}

func (s *Server) executeFor(ctx context.Context, who string, body []byte, p *Progress) *answer {
	if int64(len(body)) > s.config.MaxRequestBytes {
		return s.refuse(newProblem(http.StatusRequestEntityTooLarge, codeTooLarge, "the request is larger than the server's max_request_bytes"))
	}
	q, err := decodeRequest(body)
	if err != nil {
		return s.refuse(requestProblem(err))
	}
	return s.run(ctx, who, q, p)
}

// Health answers what GET /health would.
func (s *Server) Health() *Answer {
	b, err := json.Marshal(s.healthAnswer())
	if err != nil {
		a := newProblem(http.StatusInternalServerError, codeInternal, "the answer can't be written").answer()
		return &Answer{Status: a.status, Body: a.body}
	}
	return &Answer{Status: http.StatusOK, Body: b}
}

// MaxRequestBytes is how large a request may be.
func (s *Server) MaxRequestBytes() int64 { return s.config.MaxRequestBytes }

// Close ends every run, lets none begin, and closes what the server holds. A
// server that serves does so at its end.
func (s *Server) Close() error {
	s.halt()
	s.runs.Wait()
	return errors.Join(s.engine.Close(), s.journal.Close())
}

// Progress tells of a run on its way. Its zero value can be used for one.
type Progress struct {
	mu  sync.Mutex
	run *execution
}

func (p *Progress) follow(x *execution, _ func()) (join func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run = x
	return func() {}
}

// Output is how many bytes the command has put out; begun is false while it
// waits for its place.
func (p *Progress) Output() (bytes int64, begun bool) {
	p.mu.Lock()
	x := p.run
	p.mu.Unlock()
	if x == nil {
		return 0, false
	}
	out, _ := x.stdout.count()
	errs, _ := x.stderr.count()
	return out + errs, true
}
