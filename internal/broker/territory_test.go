// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

func exampleTerritory(tb testing.TB) *territory {
	tb.Helper()
	inodes := map[string]Inode{"/p/src": {1, 1}, "/p/gone": {1, 2}, "/p/read": {1, 3}, "/p/git/objects": {1, 4}}
	tr := tree(tb,
		policy.PathRule{Path: "/p", Kind: policy.Write},
		policy.PathRule{Path: "/p/git/hooks", Kind: policy.BlockedWrite},
		policy.PathRule{Path: "/p/x/secret", Kind: policy.Blocked},
		policy.PathRule{Path: "/r", Kind: policy.Read},
		policy.PathRule{Path: "/r/q", Kind: policy.Write},
		policy.PathRule{Path: "/r/q/ro", Kind: policy.BlockedWrite},
		policy.PathRule{Path: "/u", Kind: policy.Write},
	)
	native := map[Inode]plan.Mode{{1, 1}: plan.Write, {1, 3}: plan.Read, {1, 4}: plan.Write}
	return newTerritory(tr, &Files{Native: native}, func(name string) Inode { return inodes[name] })
}

func TestJudge(t *testing.T) {
	land := exampleTerritory(t)
	for _, c := range []struct {
		name string
		need plan.Mode
		want judgement
	}{
		{"/p", plan.Write, brokered}, {"/p", plan.Read, brokered}, {"/p/new", plan.Write, brokered}, {"/p/new", plan.Read, brokered},
		{"/p/src", plan.Write, native}, {"/p/src/deep/f", plan.Write, native}, {"/p/src/deep/f", plan.Read, native},
		{"/p/gone/f", plan.Write, brokered}, {"/p/read/f", plan.Write, brokered}, {"/p/read/f", plan.Read, native},
		{"/p/git", plan.Write, brokered}, {"/p/git", plan.Read, brokered}, // no rule of its own is known
		{"/p/git/objects/f", plan.Write, native}, {"/p/git/hooks/f", plan.Write, refused}, {"/p/git/hooks/f", plan.Read, brokered},
		{"/p/x/secret", plan.Read, refused}, {"/p/x/secret/f", plan.Write, refused}, {"/p/x/f", plan.Write, brokered},
		{"/r/f", plan.Write, refused}, {"/r/f", plan.Read, native}, {"/r/q/f", plan.Write, brokered}, {"/r/q/f", plan.Read, native},
		{"/r/q/ro/f", plan.Read, native}, {"/u/f", plan.Write, native}, {"/", plan.Read, refused}, {"/px/f", plan.Read, refused},
	} {
		if got, _ := land.judge(c.name, c.need); got != c.want {
			t.Errorf("%s %v: %v, not %v", c.name, c.need, got, c.want)
		}
	}
}

func TestJudgeName(t *testing.T) {
	land := exampleTerritory(t)
	for name, want := range map[string]judgement{
		"/p/src": brokered, "/p/new": brokered, "/p/src/f": native, "/p/gone/f": brokered, "/p": refused, "/u": refused, "/u/f": native,
		"/p/git": refused, "/p/git/hooks": refused, "/p/x": refused, "/p/x/secret": refused, "/p/git/hooks/f": refused,
		"/p/git/config": brokered, "/p/x/other": brokered, "/p/git2": brokered, "/": refused, "/r/q": refused, "/r/q/ro": refused, "/r/q/f": brokered,
	} {
		if got, _ := land.judgeName(name); got != want {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
	}
	for name, want := range map[string]bool{"/p/x": true, "/p/git": true, "/p/x/secret": false, "/p/src": false, "/r/q": false, "/r": false} {
		if got := land.awaited(name); got != want {
			t.Errorf("%s awaited: %v", name, got)
		}
	}
}

// TestSpell: another spelling of a pinned name means the same if it leads to
// the same object, or if nothing stands there yet.
func TestSpell(t *testing.T) {
	tr := tree(t, policy.PathRule{Path: "/p", Kind: policy.Write},
		policy.PathRule{Path: "/p/git/hooks", Kind: policy.BlockedWrite}, policy.PathRule{Path: "/p/Env", Kind: policy.Blocked})
	insensitive := map[string]Inode{"/p": {1, 1}, "/p/git": {1, 2}, "/p/Git": {1, 2}, "/p/git/hooks": {1, 3}, "/p/GIT/HOOKS": {1, 3}, "/p/GIT": {1, 2}}
	sensitive := map[string]Inode{"/p": {1, 1}, "/p/git": {1, 2}, "/p/GIT": {1, 4}, "/p/git/hooks": {1, 3}, "/p/GIT/HOOKS": {1, 5}, "/p/Env": {1, 6}}
	for _, c := range []struct {
		inodes     map[string]Inode
		name, want string
	}{
		{insensitive, "/p/GIT/HOOKS/x", "/p/git/hooks/x"}, {insensitive, "/p/Git/Other", "/p/git/Other"}, {insensitive, "/p/env", "/p/Env"},
		{insensitive, "/p/ENV/x", "/p/Env/x"}, {insensitive, "/p/git/hooks/X", "/p/git/hooks/X"}, {insensitive, "/p/Src", "/p/Src"},
		{sensitive, "/p/GIT/HOOKS/x", "/p/GIT/HOOKS/x"}, {sensitive, "/p/GIT", "/p/GIT"}, {sensitive, "/p/env", "/p/env"}, {sensitive, "/", "/"},
	} {
		land := newTerritory(tr, &Files{}, func(name string) Inode { return c.inodes[name] })
		if got := land.spell(c.name); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}
