// SPDX-License-Identifier: Apache-2.0

// Package client asks the HTTP service to run commands.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/policy"
)

// Client is a service. It may be used by several goroutines.
type Client struct {
	base, token string
	http        *http.Client
}

// Unix is the service at a unix socket.
func Unix(socket string) *Client {
	return &Client{base: "http://localhost", http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}}
}

// URL is the service at an address ("http://127.0.0.1:8740"), with the token
// that it wants. Redirects are not followed: they would carry the token.
func URL(base, token string) *Client {
	return &Client{base: strings.TrimSuffix(base, "/"), token: token, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Request is a command to run; docs/http-api.md explains the fields.
type Request struct {
	Project        string            `json:"project"`
	Command        string            `json:"command,omitempty"`
	Argv           []string          `json:"argv,omitempty"`
	FolderGuard    *policy.Policy    `json:"folder_guard,omitempty"`
	Stdin          []byte            `json:"-"`
	Env            map[string]string `json:"env,omitempty"`
	Secrets        []string          `json:"secrets,omitempty"`
	Timeout        policy.Duration   `json:"timeout,omitzero"`
	MaxOutputBytes *int64            `json:"max_output_bytes,omitempty"`
	Serialize      bool              `json:"serialize,omitempty"`
	// IdempotencyKey makes the request safe to repeat.
	IdempotencyKey string `json:"-"`
}

// Result is how a command ended.
type Result struct {
	RunID           string          `json:"run_id"`
	ExitCode        int             `json:"exit_code"`
	Signal          int             `json:"signal"`
	TimedOut        bool            `json:"timed_out"`
	Cancelled       bool            `json:"cancelled"`
	Stdout          []byte          `json:"-"`
	Stderr          []byte          `json:"-"`
	StdoutTruncated bool            `json:"stdout_truncated"`
	StderrTruncated bool            `json:"stderr_truncated"`
	StdoutBytes     int64           `json:"stdout_bytes"`
	StderrBytes     int64           `json:"stderr_bytes"`
	Receipt         *ambit.Receipt  `json:"receipt"`
	Denials         []denial.Denial `json:"denials"`
	// NetworkDenied says that the command tried to use a network that the
	// policy closes; empty if it did not.
	NetworkDenied string `json:"network_denied"`
	// Inferred are closed paths that a failed command names as refused, where
	// nothing on record explains the failure.
	Inferred []denial.Inferred `json:"inferred"`
	Code     string            `json:"code"`
	Error    string            `json:"error"`
	// Raw is the answer as the service wrote it.
	Raw []byte `json:"-"`
}

// Error is an answer that is no result. It matches [ambit.ErrUnavailable] and
// [ambit.ErrPolicy] by its code.
type Error struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`
	RunID   string `json:"run_id"`
	Backend string `json:"backend"`
	// RetryAfter is the header of that name: seconds, or empty.
	RetryAfter string `json:"-"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Detail) }

// Is compares the code with those of package ambit's errors.
func (e *Error) Is(target error) bool {
	switch target {
	case ambit.ErrUnavailable:
		return e.Code == string(ambit.CodeUnavailable)
	case ambit.ErrPolicy:
		return e.Code == string(ambit.CodePolicy)
	}
	return false
}

// maxAnswer bounds an answer: two streams of 64 MiB, in JSON.
const maxAnswer = 512 << 20

// Execute runs a command. The end of ctx ends the command.
func (c *Client) Execute(ctx context.Context, q *Request) (*Result, error) {
	r, err := c.send(ctx, q, "application/json")
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("cannot read the answer: %w", err)
	}
	return parseResult(b)
}

// body adds the input to a request, in the form that holds any bytes.
func (q *Request) body() ([]byte, error) {
	var more struct {
		*Request
		Stdin    []byte `json:"stdin,omitempty"` // base64, by encoding/json
		Encoding string `json:"stdin_encoding,omitempty"`
	}
	if more.Request = q; len(q.Stdin) > 0 {
		more.Stdin, more.Encoding = q.Stdin, "base64"
	}
	return json.Marshal(more)
}

// send returns an answer of status 200 and the type that was asked for.
func (c *Client) send(ctx context.Context, q *Request, accept string) (*http.Response, error) {
	b, err := q.body()
	if err != nil {
		return nil, fmt.Errorf("cannot encode the request: %w", err)
	}
	h, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/execute", bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("cannot ask the service: %w", err)
	}
	h.Header.Set("Content-Type", "application/json")
	h.Header.Set("Accept", accept)
	if q.IdempotencyKey != "" {
		h.Header.Set("Idempotency-Key", q.IdempotencyKey)
	}
	if c.token != "" {
		h.Header.Set("Authorization", "Bearer "+c.token)
	}
	r, err := c.http.Do(h)
	if err != nil {
		return nil, fmt.Errorf("cannot ask the service: %w", err)
	}
	t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.StatusCode == http.StatusOK && t == accept {
		return r, nil
	}
	defer func() { _ = r.Body.Close() }()
	e := &Error{}
	b, err = io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil || json.Unmarshal(b, e) != nil || e.Code == "" {
		return nil, fmt.Errorf("cannot understand the answer: it has the status %d and the type %q", r.StatusCode, t)
	}
	e.Status, e.RetryAfter = r.StatusCode, r.Header.Get("Retry-After")
	return nil, e
}
