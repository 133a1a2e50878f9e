// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

func TestGrantFor(t *testing.T) {
	on := testPlaces()
	rule := func(kind policy.Kind, origin string, builtin bool) *policy.PathRule {
		return &policy.PathRule{Path: "/p/x", Kind: kind, Origin: origin, Builtin: builtin}
	}
	for name, c := range map[string]struct {
		d          Denial
		flag, json string
		keep       string
	}{
		"no rule, write":      {Denial{Object: "/p/x", Access: Write}, "--write /p/x", `{"write_paths":["/p/x"]}`, ""},
		"no rule, read":       {Denial{Object: "/p/x", Access: Read}, "--read /p/x", `{"read_paths":["/p/x"]}`, ""},
		"read only":           {Denial{Object: "/p/x", Access: Write, Rule: rule(policy.Read, "a.json", false)}, "--write /p/x", `{"write_paths":["/p/x"]}`, ""},
		"a built-in's read":   {Denial{Object: "/p/x", Access: Write, Rule: rule(policy.Read, "built-in system", true)}, "--write /p/x", `{"write_paths":["/p/x"]}`, ""},
		"protected":           {Denial{Object: "/p/x", Access: Write, Rule: rule(policy.BlockedWrite, "built-in workspace, git-hooks", true)}, "--unprotect git-hooks", `{"unprotect":["git-hooks"]}`, "Git runs them"},
		"blocked":             {Denial{Object: "/p/x", Access: Read, Rule: rule(policy.Blocked, "a.json", false)}, "", "", "closed on purpose, by a.json"},
		"blocked for writing": {Denial{Object: "/p/x", Access: Write, Rule: rule(policy.BlockedWrite, "--block-write", false)}, "", "", "closed on purpose, by --block-write"},
		"a new file":          {Denial{Object: "/p/missing", Access: Write}, "--write /p/missing", `{"write_paths":["/p/missing"]}`, "only that name is opened"},
		"a new file at /":     {Denial{Object: "/missing", Access: Write}, "--write /missing", `{"write_paths":["/missing"]}`, "only that name is opened"},
		"deep in a new one":   {Denial{Object: "/p/missing/x/missing/y", Access: Write}, "--write /p/missing", `{"write_paths":["/p/missing"]}`, "only that name is opened"},
		"removing":            {Denial{Call: "unlinkat", Object: "/p/f", Access: Write}, "--write /p", `{"write_paths":["/p"]}`, "opens all of /p"},
		"a new name":          {Denial{Call: "rename", Object: "/p/missing", Access: Write}, "--write /p/missing", `{"write_paths":["/p/missing"]}`, "only that name is opened"},
		"no name":             {Denial{Access: Write}, "", "none", ""},
		"a signal":            {Denial{Call: "kill", Named: "process 1"}, "", "none", ""},
		"another reason":      {Denial{Object: "/p/x", Access: Read, Reason: "why"}, "", "none", ""},
		"odd bytes":           {Denial{Object: "/p/a b'\x1b[31m\n${HOME}", Access: Write}, `--write $'/p/a b\'\x1b[31m\x0a${HOME}'`, `{"write_paths":["/p/a b'\u001b[31m\n$${HOME}"]}`, ""},
		"no text":             {Denial{Object: "/p/\xff", Access: Write}, `--write $'/p/\xff'`, "", ""},
		"a space":             {Denial{Object: "/p/a b", Access: Write}, `--write '/p/a b'`, `{"write_paths":["/p/a b"]}`, ""},
	} {
		g := GrantFor(&c.d, on)
		if c.json == "none" {
			if g != nil {
				t.Errorf("%s: %+v", name, g)
			}
			continue
		}
		got := ""
		if g != nil && g.Policy != nil {
			b, err := json.Marshal(g.Policy)
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if g == nil || g.Flag != c.flag || got != c.json || !strings.HasPrefix(g.Keep, c.keep) && !strings.Contains(g.Keep, c.keep) || (c.keep == "") != (g.Keep == "") {
			t.Errorf("%s: %+v, policy %s", name, g, got)
		}
	}
}
