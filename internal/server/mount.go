// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// mount is a path that another package answers.
type mount struct {
	path   string
	answer func(w http.ResponseWriter, r *http.Request, who string)
}

// Mount has answer answer a path, behind the same checks of who asks as
// everything else here. The body of a POST is JSON, was read, and is no larger
// than a request may be; any other request ends with the server. It must be
// called before Serve.
func (s *Server) Mount(path string, answer func(w http.ResponseWriter, r *http.Request, who string)) {
	s.mounted = append(s.mounted, mount{path, answer})
}

func (s *Server) bounded(answer func(http.ResponseWriter, *http.Request, string)) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, who string) {
		if r.Method != http.MethodPost {
			// A stream of events would hold up the server's end. Who also waits
			// for a run gets that answer first.
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.running, func() { s.runs.Wait(); cancel() })()
			answer(w, r.WithContext(ctx), who)
			return
		}
		body, p := s.readBody(w, r)
		if p != nil {
			s.refuse(p).send(w)
			return
		}
		// The context stays: who waits for a run is answered when the server's
		// end ends it.
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer(w, r, who)
	}
}
