// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// asNamed takes paths as canonical already.
type asNamed struct{}

func (asNamed) Resolve(path string) (plan.Object, error) {
	return plan.Object{Path: path, Exists: true, Dir: true}, nil
}

func (a asNamed) Find(path string) (plan.Object, error) { return a.Resolve(path) }
func (a asNamed) Inside(plan.Object, func(string) bool) ([]plan.Object, error) {
	return nil, nil
}

// tree makes a path tree of canonical paths. The first one is a folder.
func tree(tb testing.TB, rules ...policy.PathRule) *plan.Tree {
	tb.Helper()
	p, err := plan.Compile(&policy.Resolved{Rules: rules, WorkDir: rules[0].Path}, "", asNamed{})
	if err != nil {
		tb.Fatal(err)
	}
	return p.Tree
}

func TestMayChange(t *testing.T) {
	tr := tree(t,
		policy.PathRule{Path: "/w", Kind: policy.Write},
		policy.PathRule{Path: "/w/ro", Kind: policy.BlockedWrite},
		policy.PathRule{Path: "/w/no", Kind: policy.Blocked},
		policy.PathRule{Path: "/r", Kind: policy.Read},
		policy.PathRule{Path: "/dev/null", Kind: policy.Write, Builtin: true},
		policy.PathRule{Path: "/dev/listed", Kind: policy.Write},
	)
	for _, c := range []struct {
		facts facts
		want  bool
		rule  string
	}{
		{facts{name: "/w/f", place: named}, true, "/w"},
		{facts{name: "/w", place: named}, true, "/w"},
		{facts{name: "/w/ro/f", place: named}, false, "/w/ro"},
		{facts{name: "/w/no", place: named}, false, "/w/no"},
		{facts{name: "/w/nothing", place: named}, true, "/w"},
		{facts{name: "/r/f", place: named}, false, "/r"},
		{facts{name: "/other", place: named}, false, ""},
		{facts{name: "/r/f", place: named, writable: true}, true, "/r"},
		{facts{name: "/other", place: named, writable: true}, true, ""},
		{facts{name: "/w/f", place: removed}, true, "/w"},
		{facts{name: "/r/f", place: removed}, false, "/r"},
		{facts{name: "/r/f", place: removed, writable: true}, true, "/r"},
		{facts{name: "pipe:[1]", place: unnamed}, true, ""},
		{facts{name: "anon_inode:[eventfd]", place: nowhere}, false, ""},
		{facts{name: "anon_inode:[eventfd]", place: nowhere, writable: true}, false, ""},
		{facts{name: "/w/f"}, false, ""},
		{facts{name: "/dev/null", place: named, device: true}, false, "/dev/null"},
		{facts{name: "/dev/null", place: named, device: true, writable: true}, false, "/dev/null"},
		{facts{name: "/dev/listed", place: named, device: true}, true, "/dev/listed"},
		{facts{name: "/w/tty", place: named, device: true}, true, "/w"},
		{facts{name: "/other", place: named, device: true, writable: true}, false, ""},
	} {
		ok, node := mayChange(tr, c.facts)
		rule := ""
		if node != nil {
			rule = node.Rule.Path
		}
		if ok != c.want || rule != c.rule {
			t.Errorf("%+v: %v by %q, not %v by %q", c.facts, ok, rule, c.want, c.rule)
		}
	}
}
