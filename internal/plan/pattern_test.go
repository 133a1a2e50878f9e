// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// patternTree blocks a pattern in a tree that is writable from the root on.
func patternTree(tb testing.TB, kind policy.Kind, pattern string) *plan.Tree {
	tb.Helper()
	p, err := plan.Compile(&policy.Resolved{WorkDir: "/", Rules: []policy.PathRule{
		{Path: "/", Kind: policy.Write, Origin: "t"}, {Path: pattern, Kind: kind, Origin: "t", Pattern: true},
	}}, "", anyFolder{})
	if err != nil {
		tb.Fatal(err)
	}
	return p.Tree
}

// anyFolder is a host on which every name is a folder's.
type anyFolder struct{}

func (anyFolder) Resolve(name string) (plan.Object, error) { return dir(name), nil }
func (anyFolder) Find(name string) (plan.Object, error)    { return dir(name), nil }
func (anyFolder) Inside(plan.Object, func(string) bool) ([]plan.Object, error) {
	return nil, nil
}

func TestPatternMatches(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{"/p/*", "/p/a /p/.a /p/a/b /p/** /p/\xff", "/p /q /pa /"},
		{"/p/?", "/p/a /p/é /p/€/x /p/\xff /p/?", "/p/ab /p /p/éa /p/\xff\xfe"},
		{"/p/**/.env", "/p/.env /p/a/.env /p/a/b/.env/c /p/.env/.env", "/p/env /p/.envx /p/a.env /p /.env /p/.ENV"},
		{"/**/.env", "/.env /a/.env /a/b/c/.env", "/ /a /a/xenv"},
		{"/p/a/**/b", "/p/a/b /p/a/x/b /p/a/a/b/c", "/p/b /p/a /p/a/bc /p/ab"},
		{"/p/**/a/**/b", "/p/a/b /p/x/a/y/z/b /p/a/a/b/x", "/p/b/a /p/a /p/a/x"},
		{"/p/*.pem", "/p/.pem /p/a.pem /p/a.pem.pem /p/a.pem/x", "/p/x/a.pem /p/a.pemx /p/pem"},
		{"/p/a*b*c", "/p/abc /p/aXbXc /p/abbbcc /p/ab.bc", "/p/ab /p/acb /p/xabc /p/abcx"},
		{"/p/*?", "/p/a /p/€", "/p"},
		{"/p/*??", "/p/ab /p/€a /p/a€", "/p/€ /p/a"},
		{"/p/$**", "/p/* /p/*x", "/p/x /p/$"},
		{"/p/a?/*/x", "/p/ab/c/x", "/p/a/c/x /p/ab/x /p/ab/c/d/x"},
		{"/p/**/*", "/p/a /p/.a/b", "/p"},
	} {
		tree := patternTree(t, policy.Blocked, c.pattern)
		for _, name := range strings.Fields(c.yes) {
			if m := tree.Mode(name); m != plan.None {
				t.Errorf("%s: %q is %v", c.pattern, name, m)
			}
		}
		for _, name := range strings.Fields(c.no) {
			if m := tree.Mode(name); m != plan.Write {
				t.Errorf("%s: %q is %v", c.pattern, name, m)
			}
		}
	}
}

// TestPatternNode: the node tells of the place that matches, and of the rule.
func TestPatternNode(t *testing.T) {
	tree := patternTree(t, policy.BlockedWrite, "/p/**/hooks")
	n := tree.Find("/p/x/hooks/y/hooks")
	if n == nil || n.Path != "/p/x/hooks" || n.Mode != plan.Read || n.Rule.Path != "/p/**/hooks" || !n.Rule.Pattern {
		t.Errorf("%+v", n)
	}
	if m := tree.Least("/p/Hooks/x"); m != plan.Read {
		t.Errorf("least %v", m)
	}
}

func TestPatternReach(t *testing.T) {
	for _, c := range []struct{ pattern, path, want string }{
		{"/p/*", "/p/a/b", "/p"}, {"/p/*", "/p", "/p"}, {"/p/*", "/q", ""}, {"/p/**/x", "/p/a/b", "/p/a/b"}, {"/p/**/x", "/p/x/b", "/p/x/b"},
		{"/p/*/x", "/p/a/b/c", "/p/a"}, {"/p/a*/x", "/p/b/x", "/p"}, {"/p/a*/x", "/p/AB/x", "/p/AB"}, {"/*", "/a", "/"}, {"/**/x", "/a", "/a"},
		{"/p/a/**/x", "/p/q", ""},
	} {
		tree := patternTree(t, policy.Blocked, c.pattern)
		if got := tree.Reached(c.path, plan.Read); got != c.want {
			t.Errorf("%s reaches %q on the way to %s, not %q", c.pattern, got, c.path, c.want)
		}
		if got := patternTree(t, policy.BlockedWrite, c.pattern).Reached(c.path, plan.Read); got != "" {
			t.Errorf("%s takes reading away in %s", c.pattern, got)
		}
	}
	for _, c := range []struct {
		pattern, a, b string
		want          bool
	}{
		{"/p/**/x", "/p/a", "/p/b/c", true}, {"/p/**/x", "/p/a", "/q/a", false}, {"/p/**/x", "/q", "/r", true}, {"/p/*", "/p/a/b", "/q", true},
		{"/p/*/x", "/p/a", "/p/b", true}, {"/p/*/x", "/p/a", "/p/b/c", false}, {"/p/**/a/*/x", "/p/a", "/p/b", false}, {"/p/**/a/*/x", "/p/a", "/p/b/a", true},
		{"/p/**/a/*/x", "/p/A", "/p/b", false},
	} {
		if got := patternTree(t, policy.Blocked, c.pattern).Alike(c.a, c.b); got != c.want {
			t.Errorf("%s: %s and %s alike: %v", c.pattern, c.a, c.b, got)
		}
	}
}

// defineMatch is what a pattern means, in words: component by component, from
// the left. A match of a folder counts for everything below it.
func defineMatch(parts []policy.Part, names []string) bool {
	if len(parts) == 0 {
		return true
	}
	if parts[0].Deep() {
		for i := range len(names) + 1 {
			if defineMatch(parts[1:], names[i:]) {
				return true
			}
		}
		return false
	}
	return len(names) > 0 && definePart(parts[0], names[0]) && defineMatch(parts[1:], names[1:])
}

func definePart(p policy.Part, s string) bool {
	if len(p) == 0 {
		return s == ""
	}
	switch _, n := utf8.DecodeRuneInString(s); p[0].Kind {
	case policy.Many:
		return definePart(p[1:], s) || s != "" && definePart(p, s[n:])
	case policy.One:
		return s != "" && definePart(p[1:], s[n:])
	}
	return strings.HasPrefix(s, p[0].Text) && definePart(p[1:], s[len(p[0].Text):])
}

// FuzzPatternMatches holds the matcher against the definition, and its states
// against what they promise: where a pattern does not reach, nothing below
// matches; and below two folders that are alike the same names match.
func FuzzPatternMatches(f *testing.F) {
	f.Add("/p/**/.env", "a/.env", "b/c")
	f.Add("/p/*a*/?b", "xay/cb", "xa")
	f.Add("/**/a/**/b?", "a/x/bc", "a")
	f.Add("/p/$*x*/**/**/é?", "*x/y/éa", "é")
	f.Fuzz(func(t *testing.T, pattern, name, other string) {
		r, err := policy.Resolve([]policy.Layer{{Name: "f", Policy: policy.Policy{Extends: "none", BlockedPaths: []string{pattern}}}}, policy.Vars{WorkDir: "/"})
		if err != nil || !r.Rules[0].Pattern || len(pattern)+len(name) > 60 {
			return
		}
		tree := patternTree(t, policy.Blocked, r.Rules[0].Path)
		said := policy.ParsePattern(r.Rules[0].Path)
		clean := func(s string) []string {
			var out []string
			for _, c := range strings.Split(s, "/") {
				if c != "" && c != "." && c != ".." && !strings.Contains(c, "\x00") {
					out = append(out, c)
				}
			}
			return out
		}
		base := strings.TrimSuffix(said.Base, "/")
		at := func(names []string) string {
			if len(names) == 0 && base == "" {
				return "/"
			}
			return strings.Join(append([]string{base}, names...), "/")
		}
		names, others := clean(name), clean(other)
		whole := at(names)
		if got, want := tree.Mode(whole) == plan.None, defineMatch(said.Parts, names); got != want {
			t.Fatalf("%s matches %q: %v, not %v", r.Rules[0].Path, whole, got, want)
		}
		reach := tree.Reached(whole, plan.Write)
		below := at(append(names[:len(names):len(names)], others...))
		if reach != whole && tree.Mode(whole) == plan.Write && tree.Mode(below) == plan.None {
			t.Fatalf("%s reaches %q only, and matches %q", r.Rules[0].Path, reach, below)
		}
		if tree.Mode(whole) == plan.Write && tree.Mode(at(others)) == plan.Write && tree.Alike(whole, at(others)) {
			for _, end := range []string{"/.env", "/a", "/a/.env", "/x/y", "/bc", "/ab/b"} {
				if a, b := tree.Mode(whole+end), tree.Mode(at(others)+end); whole != "/" && at(others) != "/" && a != b {
					t.Fatalf("%s: %s and %s are alike, and differ below in %s", r.Rules[0].Path, whole, at(others), end)
				}
			}
		}
	})
}

func BenchmarkPatternFind(b *testing.B) {
	tree := patternTree(b, policy.Blocked, "/home/u/project/**/.env")
	for b.Loop() {
		tree.Find("/home/u/project/node_modules/some-package/lib/internal/index.js")
	}
}
