// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// Codes of what goes wrong before or instead of a command, beside package
// ambit's.
const (
	codeRequest      = "REQUEST_INVALID"
	codeProject      = "PROJECT_NOT_FOUND"
	codeNotFound     = "NOT_FOUND"
	codeMethod       = "METHOD_NOT_ALLOWED"
	codeMedia        = "MEDIA_TYPE"
	codeUnauthorized = "UNAUTHORIZED"
	codeForbidden    = "FORBIDDEN"
	codeTooLarge     = "TOO_LARGE"
	codeBusy         = "BUSY"
	codeIdempotency  = "IDEMPOTENCY_MISMATCH"
	codeJournal      = "JOURNAL_UNAVAILABLE"
	codeShutdown     = "SHUTTING_DOWN"
	codeCancelled    = "CANCELLED"
	codeInternal     = "INTERNAL"
)

// problem is an answer in the form of RFC 9457. One about a sandbox has the
// fields of a run too, so that nobody takes it for an empty output.
type problem struct {
	Type    string  `json:"type"`
	Title   string  `json:"title"`
	Status  int     `json:"status"`
	Detail  string  `json:"detail"`
	Code    string  `json:"code"`
	RunID   string  `json:"run_id,omitempty"`
	Backend string  `json:"backend,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Exit    *int    `json:"exit_code,omitempty"`
	Stdout  *string `json:"stdout,omitempty"`
	Stderr  *string `json:"stderr,omitempty"`

	retryAfter string
}

func newProblem(status int, code, detail string) *problem {
	return &problem{Type: "urn:ambit:problem:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

func (p *problem) answer() *answer {
	b, _ := json.Marshal(p)
	return &answer{status: p.Status, mediaType: "application/problem+json", body: append(b, '\n'), retryAfter: p.retryAfter}
}

// answer is a complete answer, as it is kept for a request that comes again.
type answer struct {
	status     int
	mediaType  string
	body       []byte
	retryAfter string
	executed   bool // a command ran, or may have
}

func (a *answer) send(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", a.mediaType)
	if a.retryAfter != "" {
		h.Set("Retry-After", a.retryAfter)
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		newProblem(http.StatusInternalServerError, codeInternal, "the answer can't be written").answer().send(w)
		return
	}
	(&answer{status: status, mediaType: "application/json", body: append(b, '\n')}).send(w)
}
