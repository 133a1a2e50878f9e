// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Ways in which an agent reaches the tools.
const (
	overStdio    = "stdio"
	overHTTP     = "http"
	withSessions = "http with a session" // as revisions before 2026-07-28 have it
)

var waysIn = []string{overStdio, overHTTP, withSessions}

// agent is a client of the tools.
type agent struct {
	*mcp.ClientSession
	t        *testing.T
	progress chan *mcp.ProgressNotificationParams
	cmd      *exec.Cmd // of the server over stdio
	log      *logged
	conns    chan net.Conn // over HTTP
}

// drop breaks its connections: its own Close would wait for its calls.
func (a *agent) drop() {
	for len(a.conns) > 0 {
		_ = (<-a.conns).Close()
	}
}

// agent connects one.
func (s *service) agent(way string) *agent {
	s.t.Helper()
	a := &agent{t: s.t, progress: make(chan *mcp.ProgressNotificationParams, 1000), log: &logged{}, conns: make(chan net.Conn, 1000)}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { a.progress <- r.Params },
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	options := &mcp.ClientSessionOptions{}
	var transport mcp.Transport
	if way == overStdio {
		a.cmd = exec.Command(ambitd, "mcp", "--config", s.dir+"/ambitd.json", "--allow-root")
		a.cmd.Stderr = a.log
		transport = &mcp.CommandTransport{Command: a.cmd, TerminateDuration: patience}
	} else {
		transport = &mcp.StreamableClientTransport{Endpoint: "http://localhost/mcp", HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				c, err := (&net.Dialer{}).DialContext(ctx, "unix", s.dir+"/s/sock")
				if err == nil {
					a.conns <- c
				}
				return c, err
			},
		}}}
		if way == withSessions {
			options.ProtocolVersion = "2025-11-25"
		}
	}
	var err error
	if a.ClientSession, err = c.Connect(ctx, transport, options); err != nil {
		s.t.Fatalf("%s: cannot connect: %v\n%s", way, err, a.log)
	}
	s.t.Cleanup(func() { _ = a.Close() })
	return a
}

// ran is a structured result.
type ran struct {
	RunID           string `json:"run_id"`
	ExitCode        int    `json:"exit_code"`
	TimedOut        bool   `json:"timed_out"`
	Stdout          string `json:"stdout"`
	Stderr          string `json:"stderr"`
	StdoutEncoding  string `json:"stdout_encoding"`
	StdoutTruncated bool   `json:"stdout_truncated"`
	StderrTruncated bool   `json:"stderr_truncated"`
	StderrBytes     int64  `json:"stderr_bytes"`
	Backend         string `json:"backend"`
	Code            string `json:"code"`
	Error           string `json:"error"`
	Denials         []struct {
		Call, Named, Errno string
	} `json:"denials"`

	isError bool
	text    string // all that a model reads
	raw     string
}

// call calls execute_shell_command.
func (a *agent) call(command string, more map[string]any) *ran {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := a.try(ctx, command, more)
	if err != nil {
		a.t.Fatalf("%s: %v\n%s", command, err, a.log)
	}
	return r
}

func (a *agent) try(ctx context.Context, command string, more map[string]any) (*ran, error) {
	arguments := map[string]any{"project": "p", "command": command}
	for k, v := range more {
		if arguments[k] = v; v == nil {
			delete(arguments, k)
		}
	}
	p := &mcp.CallToolParams{Name: "execute_shell_command", Arguments: arguments}
	p.SetProgressToken("token")
	res, err := a.CallTool(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &ran{isError: res.IsError}
	for _, c := range res.Content {
		r.text += c.(*mcp.TextContent).Text + "\n"
	}
	b, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return nil, err
	}
	r.raw = string(b)
	return r, json.Unmarshal(b, r)
}
