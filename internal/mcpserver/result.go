// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/server"
)

// outcome is the structured result of execute_shell_command: the service's
// answer without the receipt, which the journal keeps.
type outcome struct {
	RunID           string            `json:"run_id,omitempty"`
	ExitCode        int               `json:"exit_code"`
	Signal          int               `json:"signal,omitempty"`
	TimedOut        bool              `json:"timed_out"`
	Cancelled       bool              `json:"cancelled,omitempty"`
	Stdout          string            `json:"stdout"`
	Stderr          string            `json:"stderr"`
	StdoutEncoding  string            `json:"stdout_encoding"`
	StderrEncoding  string            `json:"stderr_encoding"`
	StdoutTruncated bool              `json:"stdout_truncated"`
	StderrTruncated bool              `json:"stderr_truncated"`
	StdoutBytes     int64             `json:"stdout_bytes"`
	StderrBytes     int64             `json:"stderr_bytes"`
	Durations       *json.RawMessage  `json:"durations,omitempty"`
	Denials         []denial.Denial   `json:"denials"`
	DenialsDropped  int               `json:"denials_dropped,omitempty"`
	NetworkDenied   string            `json:"network_denied,omitempty"`
	Inferred        []denial.Inferred `json:"inferred,omitempty"`
	Backend         string            `json:"backend,omitempty"`
	Code            string            `json:"code,omitempty"`
	Error           string            `json:"error,omitempty"`
}

// resultOf makes a result of the service's answer. A command that ran is never
// an error of the tool, whatever its exit code.
func resultOf(a *server.Answer) (*mcp.CallToolResult, error) {
	o, err := ranOf(a.Body)
	if a.Status != http.StatusOK {
		o, err = refusedOf(a.Body)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot understand the service's answer: %w", err)
	}
	b, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("cannot write the result: %w", err)
	}
	r := &mcp.CallToolResult{StructuredContent: json.RawMessage(b), IsError: o.Code != ""}
	for _, text := range o.texts() {
		r.Content = append(r.Content, &mcp.TextContent{Text: text})
	}
	return r, nil
}

func ranOf(body []byte) (*outcome, error) {
	var ran struct {
		outcome
		Receipt struct {
			Backend        string `json:"backend"`
			DenialsDropped int    `json:"denials_dropped"`
		} `json:"receipt"`
	}
	if err := json.Unmarshal(body, &ran); err != nil {
		return nil, err
	}
	o := &ran.outcome
	o.Backend, o.DenialsDropped = ran.Receipt.Backend, ran.Receipt.DenialsDropped
	return o, nil
}

// refusedOf reads a problem (RFC 9457): nothing was run.
func refusedOf(body []byte) (*outcome, error) {
	var p struct {
		RunID   string `json:"run_id"`
		Detail  string `json:"detail"`
		Code    string `json:"code"`
		Backend string `json:"backend"`
		Stdout  string `json:"stdout"`
		Stderr  string `json:"stderr"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, err
	}
	return &outcome{
		RunID: p.RunID, ExitCode: ambit.ExitUnavailable, Code: p.Code, Error: p.Detail, Backend: p.Backend,
		Stdout: p.Stdout, Stderr: p.Stderr, StdoutEncoding: utf8Encoding, StderrEncoding: utf8Encoding,
		StdoutBytes: int64(len(p.Stdout)), StderrBytes: int64(len(p.Stderr)), Denials: []denial.Denial{},
	}, nil
}
