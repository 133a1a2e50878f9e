// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// links is a host of directories, which end in "/", and of files with the
// inode that they lead to.
type links map[string]uint64

func (l links) object(name string) plan.Object {
	if _, found := l[strings.TrimSuffix(name, "/")+"/"]; found {
		return plan.Object{Path: name, Exists: true, Dir: true, Dev: 1, Ino: uint64(len(name)) << 32}
	}
	ino, found := l[name]
	names := 0
	for _, other := range l {
		if other == ino {
			names++
		}
	}
	return plan.Object{Path: name, Exists: found, Dev: 1, Ino: ino, Linked: names > 1, Names: names}
}

func (l links) Resolve(name string) (plan.Object, error) { return l.object(path.Clean(name)), nil }
func (l links) Find(name string) (plan.Object, error)    { return l.Resolve(name) }

func (l links) Inside(dir plan.Object, wanted func(string) bool) (out []plan.Object, err error) {
	for name := range l {
		p := strings.TrimSuffix(name, "/")
		if p != "" && path.Dir(p) == dir.Path && (p != name || wanted == nil || wanted(path.Base(p))) {
			out = append(out, l.object(max(p, "/")))
		}
	}
	return out, nil
}

// TestOtherNamesOfBlocked: other names of a blocked file become blocks of their
// own where more is granted than the block leaves, and nowhere else.
func TestOtherNamesOfBlocked(t *testing.T) {
	host := links{
		"/": 0, "/p/": 0, "/p/e/": 0, "/r/": 0, "/out/": 0, "/p/keys/": 0, "/p/keys/sub/": 0,
		"/p/f": 1, "/p/e/f": 1, "/r/f": 1, "/out/f": 1, "/p/keys/a.pem": 2, "/p/keys/sub/a": 2, "/r/a": 2, "/p/single": 3, "/p/keys/b.pem": 4, "/p/g": 5, "/p/h": 5,
	}
	for name, c := range map[string]struct{ rules, want string }{
		"block":         {"blocked /p/f", "/p/e/f /p/f /r/f"},
		"write block":   {"blocked-write /p/f", "/p/e/f /p/f"},
		"both":          {"blocked-write /p/f,blocked /p/e/f", "/p/e/f /p/f /r/f"},
		"pattern":       {"blocked? /p/keys/*.pem", "/p/keys/sub/a /r/a"},
		"write pattern": {"blocked-write? /p/keys/*.pem", "/p/keys/sub/a"},
		"one name":      {"blocked /p/single", "/p/single"},
		"a named file":  {"blocked /p/f,write /out/f", "/p/e/f /p/f /r/f"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := append([]string{"write /p", "read /r"}, strings.Split(c.rules, ",")...)
			p, err := plan.Compile(&policy.Resolved{Rules: rules(lines...), WorkDir: "/p"}, "", host)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range p.Tree.Exceptions() {
				got = append(got, e.Path)
				if e.Rule.Origin != "test" || !e.Object.Exists {
					t.Errorf("%s: %+v", e.Path, e)
				}
			}
			slices.Sort(got)
			if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			if m := p.Tree.Mode("/out/f"); m != plan.None {
				t.Errorf("/out/f is %v", m)
			}
			for subject, unfound := range p.Unfound {
				if unfound {
					t.Errorf("%s is said to have more names", subject)
				}
			}
		})
	}
}

// endless is a host in which a file has a name more than is ever found.
type endless struct {
	links
	listed *int
}

func (e endless) Resolve(name string) (plan.Object, error) {
	o := e.object(path.Clean(name))
	if !o.Dir && o.Exists {
		o.Linked, o.Names = true, 2
	}
	return o, nil
}
func (e endless) Find(name string) (plan.Object, error) { return e.Resolve(name) }

func (e endless) Inside(dir plan.Object, _ func(string) bool) ([]plan.Object, error) {
	*e.listed++
	out := make([]plan.Object, 1000)
	for i := range out {
		out[i] = plan.Object{Path: fmt.Sprintf("%s/%d", dir.Path, i), Exists: true, Dir: i%100 == 0, Dev: 1, Ino: uint64(*e.listed*1000 + i)}
	}
	return out, nil
}

// TestOtherNamesUnfound: a search that does not end in time ends all the same,
// and says which block may not hold; one with nothing to look for does not begin.
func TestOtherNamesUnfound(t *testing.T) {
	listed := 0
	host := endless{links{"/": 0, "/p/": 0, "/p/f": 1}, &listed}
	p, err := plan.Compile(&policy.Resolved{Rules: rules("write /p", "blocked /p/f"), WorkDir: "/p"}, "", host)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Unfound["/p/f"] || listed > plan.LinkEntries/1000+1 {
		t.Errorf("unfound: %v, after %d directories", p.Unfound, listed)
	}
	if bound, err := plan.Intersect(p, p); err != nil || !bound.Unfound["/p/f"] {
		t.Errorf("within a bound: %v, %v", bound, err)
	}
	listed = 0
	p, err = plan.Compile(&policy.Resolved{Rules: rules("write /p", "blocked /p/missing"), WorkDir: "/p"}, "", host)
	if err != nil || listed > 0 || p.Unfound["/p/missing"] {
		t.Errorf("%v, %v, %d directories listed", p, err, listed)
	}
}
