// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"time"
)

// pieceSize is how much a client must take within the time.
const pieceSize = 16 << 10

// answering bounds the time in which a client takes the next piece of what is
// written to it: one that stalls would hold the answer in memory for ever. The
// time begins with each piece, since a run may take long before it has
// something to say.
type answering struct {
	http.ResponseWriter
	stall time.Duration
}

func (a *answering) Write(b []byte) (n int, err error) {
	c := http.NewResponseController(a.ResponseWriter)
	for {
		piece := b[n:min(n+pieceSize, len(b))]
		_ = c.SetWriteDeadline(time.Now().Add(a.stall))
		k, err := a.ResponseWriter.Write(piece)
		if n += k; err != nil || n == len(b) {
			return n, err
		}
	}
}

// Unwrap, Flush and FlushError are for [http.ResponseController] and who asks
// for an [http.Flusher].
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Flush sends what was written.
func (a *answering) Flush() { _ = a.FlushError() }

// FlushError sends what was written.
func (a *answering) FlushError() error {
	return http.NewResponseController(a.ResponseWriter).Flush()
}
