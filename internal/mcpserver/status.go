// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/server"
)

// status is the structured result of sandbox_status.
type status struct {
	Available bool   `json:"available"`
	Code      string `json:"code,omitempty"`
	Backend   string `json:"backend"`
	Detail    string `json:"detail"`
	Checked   string `json:"checked,omitempty"`
	Limits    string `json:"limits,omitempty"`
	Version   string `json:"version"`
	// Allowed is what a run may have at most.
	Allowed *server.Allowance `json:"allowed"`
}

func (m *Server) status(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name, ok := unknownArgument(req.Params.Arguments); ok {
		return failed(fmt.Sprintf("REQUEST_INVALID: unknown argument %q; %s takes none", name, StatusTool)), nil
	}
	var health struct {
		Sandbox status `json:"shell_sandbox"`
		Limits  string `json:"limits"`
	}
	if err := json.Unmarshal(m.service.Health().Body, &health); err != nil {
		return nil, fmt.Errorf("cannot understand the service's answer: %w", err)
	}
	v := health.Sandbox
	v.Limits, v.Version, v.Allowed = health.Limits, m.version, m.service.Allowance()
	text := "The sandbox works, enforced by " + v.Backend + "."
	if !v.Available {
		v.Code = string(ambit.CodeUnavailable)
		text = v.Code + ": no command can be run on this host."
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot write the result: %w", err)
	}
	text += "\nbackend: " + v.Backend + "\ndetail: " + v.Detail + "\nversion: " + v.Version + "\n" + allowanceText(v.Allowed) + "\n" + projectsText(v.Allowed)
	return &mcp.CallToolResult{StructuredContent: json.RawMessage(b), Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
}

func unknownArgument(arguments json.RawMessage) (name string, ok bool) {
	var given map[string]json.RawMessage
	if len(arguments) == 0 {
		return "", false
	}
	if err := json.Unmarshal(arguments, &given); err != nil {
		return string(arguments[:min(len(arguments), 80)]), true
	}
	var names []string
	for n := range given {
		names = append(names, n)
	}
	if len(names) == 0 {
		return "", false
	}
	return slices.Min(names), true
}

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
