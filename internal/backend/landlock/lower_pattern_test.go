// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/policy"
)

var programs = world{
	"/", "/p/", "/p/.env", "/p/run!", "/p/text", "/p/sub/", "/p/sub/run!", "/p/sub/linked!+", "/p/sub/.env!", "/p/sub/deep/", "/p/sub/deep/run!",
	"/p/secrets/", "/p/secrets/run!", "/p/secret-1", "/p/sub/Secrets/", "/p/sub/.ENV!", "/q/", "/q/f",
}

// TestLowerPatterns: where a pattern can match there is no rule for what it
// takes away. Of what is taken from reading at any depth, executable files have
// rules of their own.
func TestLowerPatterns(t *testing.T) {
	p, q := policy.PathRule{Path: "/p", Kind: policy.Write}, policy.PathRule{Path: "/q", Kind: policy.Write}
	pattern := func(kind policy.Kind, path string) policy.PathRule {
		return policy.PathRule{Path: path, Kind: kind, Pattern: true}
	}
	for name, c := range map[string]struct {
		rules   []policy.PathRule
		grants  string
		native  string
		matched string
	}{
		"write, any depth": {[]policy.PathRule{p, q, pattern(policy.BlockedWrite, "/p/**/.env")}, "read /p; write /q", "", ""},
		"read, any depth": {[]policy.PathRule{p, q, pattern(policy.Blocked, "/p/**/.env")},
			"X /p/run; X /p/secrets/run; X /p/sub/deep/run; X /p/sub/run; write /q", "", "/p/.env /p/sub/.env"},
		"read, a folder at any depth": {[]policy.PathRule{p, pattern(policy.Blocked, "/p/**/secrets")},
			"X /p/run; X /p/sub/.ENV; X /p/sub/.env; X /p/sub/deep/run; X /p/sub/run", "", "/p/secrets"},
		"read, one depth": {[]policy.PathRule{p, pattern(policy.Blocked, "/p/secret*")},
			"read /p/.env; read /p/run; read /p/text; write /p/sub", "/p/sub", "/p/secrets /p/secret-1"},
		"write, one depth": {[]policy.PathRule{p, pattern(policy.BlockedWrite, "/p/secret*")},
			"change /p/sub; read /p", "/p/sub", "/p/secrets /p/secret-1"},
		"write, two depths": {[]policy.PathRule{p, pattern(policy.BlockedWrite, "/p/*/run")},
			"change /p/sub/Secrets; change /p/sub/deep; read /p", "/p/sub/Secrets /p/sub/deep", "/p/sub/run /p/secrets/run"},
		"no reach": {[]policy.PathRule{p, pattern(policy.BlockedWrite, "/q/**/x"), pattern(policy.Blocked, "/q/*")}, "write /p", "", ""},
		"below": {[]policy.PathRule{p, pattern(policy.BlockedWrite, "/p/sub/**/x")},
			"change /p/secrets; read /p", "/p/secrets", ""},
		"with a named place": {[]policy.PathRule{p, {Path: "/p/.env", Kind: policy.Blocked}, pattern(policy.BlockedWrite, "/p/**/run")},
			"read /p/run; read /p/secret-1; read /p/secrets; read /p/sub; read /p/text", "/p/secrets:read /p/sub:read", "/p/run"},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := plan.Compile(&policy.Resolved{Rules: c.rules, WorkDir: "/"}, "", programs)
			if err != nil {
				t.Fatal(err)
			}
			l, err := lower(made.Tree, rightsOf, programs.list)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(show(l.grants), "\n")
			for i, line := range got {
				word, path, _ := strings.Cut(line, " ")
				if word == (probe.FSReadFile | probe.FSExecute).String() {
					word = "X"
				}
				got[i] = word + " " + strings.TrimSpace(path)
			}
			sort.Strings(got)
			var native, matched []string
			for i, m := range l.native {
				name := strings.TrimRight(programs[i.Ino-1], "/!+")
				if m != plan.Write {
					name += ":" + m.String()
				}
				native = append(native, name)
			}
			for i := range programs {
				if n := l.matched[inodeOf(programs.object(programs[i]))]; n != nil {
					matched = append(matched, n.Path)
				}
			}
			sort.Strings(native)
			if d := cmp.Diff(fmt.Sprint(c.grants, "|", c.native), fmt.Sprint(strings.Join(got, "; "), "|", strings.Join(native, " "))); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			want := strings.Fields(c.matched)
			sort.Strings(want)
			sort.Strings(matched)
			if d := cmp.Diff(want, append([]string{}, matched...)); d != "" && len(want)+len(matched) > 0 {
				t.Errorf("matched (-want +got):\n%s", d)
			}
			neverMore(t, made.Tree, l.grants)
			patternsHold(t, made.Tree, l.grants)
		})
	}
}

// patternsHold: no rule on a folder gives to a place, there or made later, what
// a pattern takes from it.
func patternsHold(t *testing.T, tree *plan.Tree, grants []grant) {
	t.Helper()
	for _, g := range grants {
		for _, below := range []string{"", "/.env", "/run", "/secrets", "/secret-2", "/new/.env", "/new/run", "/x", "/new/x", "/a/b/c/.env/d"} {
			if !g.object.Dir && below != "" {
				continue
			}
			if extra := g.rights &^ rightsOf(tree.Mode(g.object.Path+below)); extra != 0 {
				t.Errorf("the rule on %s gives %s to %s", g.object.Path, extra, g.object.Path+below)
			}
		}
	}
}

// TestSearchIsBounded: a search that has found enough ends, and leaves the rest
// without rules.
func TestSearchIsBounded(t *testing.T) {
	made, err := plan.Compile(&policy.Resolved{WorkDir: "/", Rules: []policy.PathRule{
		{Path: "/p", Kind: policy.Write}, {Path: "/p/**/.env", Kind: policy.Blocked, Pattern: true},
	}}, "", programs)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	endless := func(dir plan.Object, _ func(string) bool) ([]plan.Object, error) {
		asked++
		out := make([]plan.Object, 1000)
		for i := range out {
			out[i] = plan.Object{Path: fmt.Sprintf("%s/%d", dir.Path, i), Exists: true, Dir: true, Dev: 2, Ino: uint64(asked*1000 + i)}
		}
		return out, nil
	}
	began := time.Now()
	if _, err := lower(made.Tree, rightsOf, endless); err != nil {
		t.Fatal(err)
	}
	if asked > searchEntries/1000+1 || time.Since(began) > 20*time.Second {
		t.Errorf("%d folders were listed in %v", asked, time.Since(began))
	}
}
