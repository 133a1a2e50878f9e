// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/ambit-sandbox/ambit/policy"
)

const maxKey = 200

// execute answers POST /api/execute.
func (s *Server) execute(w http.ResponseWriter, r *http.Request, who string) {
	body, p := s.readBody(w, r)
	if p != nil {
		s.refuse(p).send(w)
		return
	}
	q, err := decodeRequest(body)
	if err != nil {
		s.refuse(requestProblem(err)).send(w)
		return
	}
	var live *stream
	var follows follower
	if accepts(r, "text/event-stream") {
		live = &stream{w: w}
		follows = live
	}
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		s.finish(w, live, s.run(r.Context(), who, q, follows))
		return
	}
	if len(key) > maxKey {
		s.refuse(newProblem(http.StatusBadRequest, codeRequest, "the Idempotency-Key is longer than 200 bytes")).send(w)
		return
	}
	// Another caller's key is another key. The form of the answer is part of
	// what is asked.
	key = who + "\x00" + key
	if live != nil {
		body = append(body, "\x00stream"...)
	}
	e, first, same := s.memory.begin(key, body)
	switch {
	case !same:
		s.refuse(newProblem(http.StatusConflict, codeIdempotency, "the Idempotency-Key was used with another request; use a new one")).send(w)
	case first:
		var a *answer
		defer func() { s.memory.end(key, e, a) }()
		a = s.run(r.Context(), who, q, follows)
		s.finish(w, live, a)
	default:
		select {
		case <-e.done:
			s.finish(w, live, e.answer)
		case <-r.Context().Done():
		}
	}
}

// finish sends the answer, as the last event if a stream is wanted and
// something ran.
func (s *Server) finish(w http.ResponseWriter, live *stream, a *answer) {
	switch {
	case a == nil:
		newProblem(http.StatusInternalServerError, codeInternal, "the request that came first failed").answer().send(w)
	case live != nil && (live.open || a.executed):
		live.event("done", a.body)
	default:
		a.send(w)
	}
}

func (s *Server) refuse(p *problem) *answer {
	s.metrics.refused(p.Code)
	return p.answer()
}

func accepts(r *http.Request, mediaType string) bool {
	for _, v := range strings.Split(r.Header.Get("Accept"), ",") {
		if t, _, err := mime.ParseMediaType(v); err == nil && t == mediaType {
			return true
		}
	}
	return false
}

func requestProblem(err error) *problem {
	switch {
	case errors.Is(err, errProject):
		return newProblem(http.StatusNotFound, codeProject, err.Error())
	case errors.Is(err, policy.ErrInvalid):
		return newProblem(http.StatusUnprocessableEntity, "POLICY_INVALID", err.Error())
	}
	return newProblem(http.StatusBadRequest, codeRequest, err.Error())
}

// readBody reads all of a body, of a bounded size in a bounded time.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, newProblem(http.StatusUnsupportedMediaType, codeMedia, "the Content-Type must be application/json")
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.config.MaxRequestBytes))
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return nil, newProblem(http.StatusRequestEntityTooLarge, codeTooLarge, "the request is larger than the server's max_request_bytes")
	case err != nil:
		return nil, newProblem(http.StatusBadRequest, codeRequest, "the request did not arrive as a whole")
	}
	return b, nil
}

// begin counts a run, unless the server is about to stop.
func (s *Server) begin() bool {
	s.starting.Lock()
	defer s.starting.Unlock()
	if s.running.Err() != nil {
		return false
	}
	s.runs.Add(1)
	return true
}

// halt ends every run, and lets none begin.
func (s *Server) halt() {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.stop(errShutdown)
}

// during ends with the request or with the server.
func (s *Server) during(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.running, func() { cancel(errShutdown) })
	return ctx, func() { stop(); cancel(nil) }
}
