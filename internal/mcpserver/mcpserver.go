// SPDX-License-Identifier: Apache-2.0

// Package mcpserver offers the service's commands to agents as tools of the
// Model Context Protocol, over HTTP and over a pair of streams. Each call goes
// the same way as POST /api/execute.
package mcpserver

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-sandbox/ambit/internal/server"
)

// Names of the tools.
const (
	ExecuteTool = "execute_shell_command"
	StatusTool  = "sandbox_status"
)

//go:embed schema
var schemas embed.FS

const instructions = `Commands run inside a sandbox that the kernel enforces, in one of the server's projects. ` +
	`Exit codes, stdout and stderr are the command's own. ` +
	`A result with the code SANDBOX_UNAVAILABLE means that the host can't make the sandbox and that nothing was run: ` +
	`it says nothing about the command, the network or a key.`

// Server has the tools. It serves many clients at once.
type Server struct {
	service *server.Server
	version string
	mcp     *mcp.Server
	// who is the caller where the connection does not tell.
	who string
}

func newServer(s *server.Server, version, who string) *Server {
	m := &Server{service: s, version: version, who: who}
	m.mcp = mcp.NewServer(&mcp.Implementation{Name: "ambit", Title: "Ambit sandbox", Version: version}, &mcp.ServerOptions{
		Instructions: instructions + " " + allowanceText(s.Allowance()),
		// The tools never change, and nothing is logged to clients.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	yes, no := true, false
	m.mcp.AddTool(&mcp.Tool{
		Name:  ExecuteTool,
		Title: "Run a shell command in the sandbox",
		Description: "Runs a command in a project's folder, inside a sandbox that the kernel enforces, and returns its exit code, stdout and stderr. " +
			"Only the paths, the network access and the variables that the policy names can be used; \"Permission denied\" may mean that the policy closes something, and the denials say what. " +
			allowanceText(s.Allowance()),
		InputSchema: schema("execute_input"), OutputSchema: schema("execute_output"),
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes},
	}, m.execute)
	m.mcp.AddTool(&mcp.Tool{
		Name:        StatusTool,
		Title:       "Whether the sandbox works",
		Description: "Says whether commands can be run here: which backend enforces the sandbox, or why none can, and the version.",
		InputSchema: schema("status_input"), OutputSchema: schema("status_output"),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}, m.status)
	return m
}

func schema(name string) json.RawMessage {
	b, err := schemas.ReadFile("schema/" + name + ".json")
	if err != nil {
		panic(err) // it is part of the program
	}
	return b
}

// execute answers a call of execute_shell_command. The arguments are decoded
// by the service, as strictly as a request over HTTP.
func (m *Server) execute(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c, err := m.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	defer c.end()
	p := &server.Progress{}
	stop := c.report(req, p)
	a := m.service.Execute(c.ctx, c.who, argumentsOf(req), p)
	stop()
	return resultOf(a)
}

func argumentsOf(req *mcp.CallToolRequest) []byte {
	if len(req.Params.Arguments) == 0 {
		return []byte("{}")
	}
	return req.Params.Arguments
}

// call is one call of a tool on its way.
type call struct {
	ctx context.Context
	who string
	end func()
}

// begin finds out who calls, and makes a context that ends with the call and
// with the HTTP request that brought it: who has left can't be answered.
func (m *Server) begin(ctx context.Context, req *mcp.CallToolRequest) (*call, error) {
	if m.who != "" {
		return &call{ctx: ctx, who: m.who, end: func() {}}, nil
	}
	from, ok := callerOf(req)
	if !ok {
		return nil, fmt.Errorf("cannot call %s: nobody knows who calls", req.Params.Name)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(from.request, cancel)
	forget := from.running.add(from.who, req.Session.ID(), cancel)
	return &call{ctx: ctx, who: from.who, end: func() { forget(); stop(); cancel() }}, nil
}
