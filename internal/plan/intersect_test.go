// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

func compile(t *testing.T, workDir string, lines ...string) *plan.Plan {
	t.Helper()
	p, err := plan.Compile(&policy.Resolved{WorkDir: workDir, Rules: rules(lines...)}, "", host)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestIntersectGolden(t *testing.T) {
	for name, c := range map[string]struct{ asked, bound []string }{
		"intersect narrows built-ins": {
			[]string{"read* /usr", "write* /home/u/p", "read* /home/u/.gitconfig", "blocked? /home/u/p/**/.env"},
			[]string{"read* /usr", "write /home/u/p", "blocked-write /home/u/p/.git/hooks", "blocked? /home/u/p/*/key"},
		},
		"intersect of parts": {
			[]string{"read /home/u/p", "write /home/u/p/vendor", "blocked /home/u/p/new"},
			[]string{"write /home/u", "blocked /home/u/.ssh", "read /usr"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Intersect(compile(t, "/home/u/p", c.asked...), compile(t, "/home/u/p", c.bound...))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.ReplaceAll(name, " ", "-"), dump(p))
		})
	}
}

// TestIntersectIsTheLesser holds the intersection against its definition, on
// random policies with patterns, and on names that no policy lists.
func TestIntersectIsTheLesser(t *testing.T) {
	kinds := []string{"read*", "write*", "read*", "write*", "blocked", "blocked-write", "blocked*", "blocked-write*", "blocked?", "blocked-write?"}
	places := []string{"/", "/usr", "/usr/bin", "/home/u", "/home/u/p", "/home/u/link", "/home/u/p/.git", "/home/u/p/.git/hooks", "/home/u/p/new/deep", "/tmp/x", "/home/u/p/.env"}
	globs := []string{"/**/x", "/home/*/p", "/home/u/p/**/.env", "/home/u/p/*/hooks", "/usr/b*", "/home/u/?", "/home/u/link/*", "/**/p/**/h*"}
	names := append([]string{"/home", "/usr/lib/x", "/home/u/p/a/.env", "/home/u/p/.git/hooks/x", "/home/u/p/a/b/hooks/c", "/home/u/q", "/srv/env", "/home/u/p/new", "/home/u/p/new/deep/er", "/tmp/x/X", "/home/u/P/.ENV"}, places...)
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	policyOf := func() []string {
		var lines []string
		for range 1 + random.IntN(7) {
			kind := pick(kinds)
			if strings.HasSuffix(kind, "?") {
				lines = append(lines, kind+" "+pick(globs))
			} else {
				lines = append(lines, kind+" "+pick(places))
			}
		}
		return lines
	}
	tried, differed := 0, 0
	for range 20000 {
		askedLines, boundLines := policyOf(), policyOf()
		a, errA := plan.Compile(&policy.Resolved{WorkDir: "/tmp/x", Rules: rules(askedLines...)}, "", host)
		b, errB := plan.Compile(&policy.Resolved{WorkDir: "/tmp/x", Rules: rules(boundLines...)}, "", host)
		if errA != nil || errB != nil {
			continue // closes the working directory
		}
		both, err := plan.Intersect(a, b)
		if err != nil {
			t.Fatalf("%v with %v: %v", askedLines, boundLines, err)
		}
		tried++
		for _, n := range names {
			want := min(a.Tree.Mode(n), b.Tree.Mode(n))
			if got := both.Tree.Mode(n); got != want {
				t.Fatalf("mode of %s is %v, want %v; asked %v, bound %v", n, got, want, askedLines, boundLines)
			}
			if got, most := both.Tree.Least(n), min(a.Tree.Least(n), b.Tree.Least(n)); got > most {
				t.Fatalf("%s has at least %v, want at most %v; asked %v, bound %v", n, got, most, askedLines, boundLines)
			}
			if a.Tree.Mode(n) != b.Tree.Mode(n) {
				differed++
			}
		}
		grantsAreThere(t, both.Tree, askedLines, boundLines)
	}
	if tried < 2000 || differed < tried {
		t.Errorf("only %d pairs were tried, with %d differences", tried, differed)
	}
}

// grantsAreThere: a place that gets more than the folder around it is one that
// was found on the host, so that a rule can be put on it.
func grantsAreThere(t *testing.T, tree *plan.Tree, why ...[]string) {
	t.Helper()
	for _, n := range tree.Nodes() {
		up := plan.None
		if i := strings.LastIndexByte(n.Path, '/'); n.Path != "/" {
			up = tree.Mode(n.Path[:max(i, 1)])
		}
		if n.Mode > up && !n.Object.Exists {
			t.Fatalf("%s gets %v, and nothing stands there; %v", n.Path, n.Mode, why)
		}
	}
}

func TestIntersectRefusals(t *testing.T) {
	bound := []string{"write /home/u/p", "blocked-write /home/u/p/.git/hooks", "read* /usr", "blocked? /home/u/p/**/.env", "blocked /home/u/p/.agent"}
	for name, c := range map[string]struct {
		asked   []string
		workDir string
		want    string
	}{
		"elsewhere":         {[]string{"read /tmp/x"}, "", `read on path "/tmp/x" from test, where none is the most`},
		"more":              {[]string{"write /usr"}, "", `write on path "/usr" from test, where read is the most`},
		"around":            {[]string{"write /home/u"}, "", `write on path "/home/u" from test, where none is the most`},
		"protected":         {[]string{"write /home/u/p/.git/hooks"}, "", `write on path "/home/u/p/.git/hooks" from test, where read is the most`},
		"blocked":           {[]string{"read /home/u/p/.agent"}, "", `read on path "/home/u/p/.agent" from test, where none is the most`},
		"a link elsewhere":  {[]string{"read /home/u/p/.env"}, "", `read on path "/home/u/p/.env" from test, where none is the most`},
		"missing elsewhere": {[]string{"write /tmp/x/none"}, "", `write on path "/tmp/x/none" from test, where none is the most`},
		"unreadable":        {[]string{"read /root/secret"}, "", `read on path "/root/secret" from test, where none is the most`},
		"work_dir":          {[]string{"read* /tmp/x"}, "/tmp/x", `read on path "/tmp/x" from work_dir, where none is the most`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.workDir == "" {
				c.workDir = "/home/u/p"
			}
			_, err := plan.Intersect(compile(t, c.workDir, c.asked...), compile(t, "/home/u/p", bound...))
			var more *plan.BoundError
			if want := "the policy asks for more than is allowed here: " + c.want; !errors.As(err, &more) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	// The controls: what the bound has can be asked for, also within it, and a
	// request's own blocks are no wish for more.
	for _, asked := range [][]string{
		{"write /home/u/p", "read /usr/bin"}, {"write* /home/u", "read* /"}, {"write /home/u/p/vendor", "read /home/u/p/.git/hooks"},
		{"write /home/u/link"}, {"write /home/u/p/none"}, {"write /usr", "blocked-write /usr"},
	} {
		if _, err := plan.Intersect(compile(t, "/home/u/p", asked...), compile(t, "/home/u/p", bound...)); err != nil {
			t.Errorf("%v: %v", asked, err)
		}
	}
}
