// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestMCPAllowance: an agent is told before its first command whether the
// network is open, what it can write, which secrets it can name, and which
// projects there are. No secret's value is told.
func TestMCPAllowance(t *testing.T) {
	for _, open := range []bool{false, true} {
		s := prepared(t)
		if err := os.WriteFile(s.dir+"/key", []byte("its-value\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.start(map[string]any{
			"policy":  map[string]any{"extends": "workspace", "allow_network": open, "write_paths": []string{s.dir + "/projects/q"}},
			"secrets": map[string]any{"KEY": map[string]any{"file": s.dir + "/key"}},
		})
		network := map[bool]string{true: "The network is open", false: "The network is closed"}[open]
		says := network + "|Writable: ${WORK_DIR}, " + s.dir + "/projects/q.|can name: KEY."
		for _, way := range waysIn {
			a := s.agent(way)
			tools, err := a.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			description := tools.Tools[slices.IndexFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "execute_shell_command" })].Description
			res, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "sandbox_status"})
			if err != nil {
				t.Fatal(err)
			}
			text := res.Content[0].(*mcp.TextContent).Text
			for _, want := range strings.Split(says, "|") {
				if !strings.Contains(description, want) || !strings.Contains(text, want) || !strings.Contains(a.InitializeResult().Instructions, want) {
					t.Errorf("%s: no %q in\n%s\n%s\n%s", way, want, description, text, a.InitializeResult().Instructions)
				}
			}
			b, _ := json.Marshal(res.StructuredContent)
			var v struct {
				Allowed struct {
					Network                     bool
					Writable, Secrets, Projects []string
				}
			}
			if err := json.Unmarshal(b, &v); err != nil || v.Allowed.Network != open || !slices.Equal(v.Allowed.Projects, []string{"p", "q"}) ||
				!slices.Equal(v.Allowed.Secrets, []string{"KEY"}) || len(v.Allowed.Writable) != 2 || !strings.Contains(text, "projects: p, q") || strings.Contains(string(b)+text, "its-value") {
				t.Errorf("%s: %s %v\n%s", way, b, err, text)
			}
		}
	}
}
