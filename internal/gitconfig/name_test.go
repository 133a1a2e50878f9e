// SPDX-License-Identifier: Apache-2.0

package gitconfig

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	for text, want := range map[string][]Name{
		"[core] hooksPath = .githooks":                      {{"/p/.githooks", Hooks}},
		"[CORE] HOOKSPATH = /abs/hooks":                     {{"/abs/hooks", Hooks}},
		"[core] hooksPath = ~/hooks":                        {{"/h/hooks", Hooks}},
		"[core] hooksPath = ~other/hooks":                   nil,
		"[core] hooksPath":                                  nil,
		"[core] bare = false":                               nil,
		"[include] path = ../.gitconfig":                    {{"/p/.git/../.gitconfig", Include}},
		"[includeIf \"onbranch:a.b\"] path = :(optional)in": {{"/p/.git/in", Include}},
		"[core] fsmonitor = .git/../tools/watch":            {{"/p/.git/../tools/watch", Program}},
		"[core] fsmonitor = true":                           nil,
		"[filter \"x.y\"] clean = python3 tools/c.py %f":    {{"/p/tools/c.py", Argument}, {"/p/%f", Argument}},
		"[merge \"m\"] driver = ./merge.sh %O":              {{"/p/./merge.sh", Program}, {"/p/%O", Argument}},
		"[alias] x = !./run.sh":                             {{"/p/./run.sh", Program}},
		"[alias] x = log ./run.sh":                          nil,
		"[credential \"https://a.b/c\"] helper = /p/helper": {{"/p/helper", Program}},
		"[pager] log = a/b":                                 {{"/p/a/b", Program}},
		"[branch \"x\"] remote = ./origin":                  nil,
	} {
		entries, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := Names(entries, Base{File: "/p/.git", Top: "/p", Home: "/h"}); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
