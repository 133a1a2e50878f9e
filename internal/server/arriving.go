// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// arriving is a body on its way.
type arriving struct {
	io.ReadCloser
	arrived func()
}

// boundBody bounds the time in which the body arrives. Also where nobody reads
// it: net/http does, before it answers, and would wait for ever, for a client
// that may not even ask.
func boundBody(w http.ResponseWriter, r *http.Request, most time.Duration) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(most))
	r.Body = &arriving{r.Body, func() { _ = c.SetReadDeadline(time.Time{}) }}
}

// Read lifts the bound at the end: net/http goes on reading then, to see that
// the client leaves, and that must not time out.
func (a *arriving) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) {
		a.arrived()
	}
	return n, err
}
