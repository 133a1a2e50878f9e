// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

func patternRule(kind policy.Kind, path string) policy.PathRule {
	return policy.PathRule{Path: path, Kind: kind, Pattern: true}
}

// TestJudgePatterns: where a pattern can match, the broker decides; where it
// can't any more, the rules that there are.
func TestJudgePatterns(t *testing.T) {
	tr := tree(t, policy.PathRule{Path: "/p", Kind: policy.Write}, policy.PathRule{Path: "/q", Kind: policy.Write},
		patternRule(policy.Blocked, "/p/s/**/.env"), patternRule(policy.BlockedWrite, "/p/*.lock"), patternRule(policy.Blocked, "/q/*/x"))
	inodes := map[string]Inode{"/p/nat": {1, 1}, "/p/read": {1, 2}, "/q/a/nat": {1, 3}}
	files := &Files{Native: map[Inode]plan.Mode{{1, 1}: plan.Write, {1, 2}: plan.Read, {1, 3}: plan.Write}}
	land := newTerritory(tr, files, func(name string) Inode { return inodes[name] })
	for _, c := range []struct {
		name string
		need plan.Mode
		want judgement
	}{
		{"/p/s/f", plan.Read, brokered}, {"/p/s/d/f", plan.Write, brokered}, {"/p/s/.env", plan.Read, refused}, {"/p/s/d/.env/f", plan.Write, refused},
		{"/p/f", plan.Read, brokered}, {"/p/nat/f", plan.Read, native}, {"/p/nat/d/f", plan.Write, native}, {"/p/read/f", plan.Write, brokered},
		{"/p/a.lock", plan.Read, brokered}, {"/p/a.lock", plan.Write, refused}, {"/p/nat/a.lock", plan.Write, native},
		{"/q/f", plan.Write, brokered}, {"/q/a/f", plan.Read, brokered}, {"/q/a/x", plan.Read, refused}, {"/q/a/nat/x", plan.Write, native}, {"/q/a/d/x", plan.Write, brokered},
	} {
		if got, _ := land.judge(c.name, c.need); got != c.want {
			t.Errorf("%s %v: %v, not %v", c.name, c.need, got, c.want)
		}
	}
	for name, want := range map[string]judgement{
		"/p/s": refused, "/p/s/d": brokered, "/p/s/.env": refused, "/p/x.lock": refused, "/p/nat": brokered, "/p/nat/f": native, "/q": refused, "/q/a": brokered, "/q/a/x": refused,
	} {
		if got, _ := land.judgeName(name); got != want {
			t.Errorf("name %s: %v, not %v", name, got, want)
		}
	}
	// What a folder from the stock may stand for.
	for name, want := range map[string]bool{
		"/p/new": true, "/p/s/new": false, "/p/s": false, "/p/new.lock": false, "/p/NEW.LOCK": false, "/q/new": false, "/q/a/new": true, "/q/a/x": false, "/q/a/new/x": true,
	} {
		if got := land.uniform(name); got != want {
			t.Errorf("%s uniform: %v", name, got)
		}
	}
}

// TestPatternCase: a name in another case matches where the folder finds both,
// and where that can't be known; not where it makes a difference.
func TestPatternCase(t *testing.T) {
	tr := tree(t, policy.PathRule{Path: "/p", Kind: policy.Write}, patternRule(policy.Blocked, "/p/**/.env"))
	ignoring := func(name string) Inode {
		return map[string]Inode{"/p/d": {1, 1}, "/p/d/.env": {1, 2}}[strings.ToLower(name)]
	}
	exactly := func(name string) Inode {
		return map[string]Inode{"/p/d": {1, 1}, "/p/d/.ENV": {1, 2}, "/p/d/.eNV": {1, 3}, "/p/d/.EnV": {1, 4}}[name]
	}
	for _, c := range []struct {
		identify func(string) Inode
		name     string
		want     plan.Mode
	}{
		{ignoring, "/p/d/.env", plan.None}, {ignoring, "/p/d/.ENV", plan.None}, {ignoring, "/p/D/.Env/x", plan.None}, {ignoring, "/p/d/env", plan.Write},
		{ignoring, "/p/d/x", plan.Write}, {ignoring, "/p/new/.ENV", plan.None},
		{exactly, "/p/d/.env", plan.None}, {exactly, "/p/d/.ENV", plan.Write}, {exactly, "/p/d/.eNV", plan.Write}, {exactly, "/p/d/.eNV/x", plan.Write},
		{exactly, "/p/d/.Env", plan.None}, {exactly, "/p/d/.ENV/.env", plan.None},
	} {
		land := newTerritory(tr, &Files{}, c.identify)
		if n := land.Find(c.name); n == nil || n.Mode != c.want {
			t.Errorf("%s: %+v, not %v", c.name, n, c.want)
		}
	}
}

func BenchmarkJudgePatterns(b *testing.B) {
	tr := tree(b, policy.PathRule{Path: "/home/u/project", Kind: policy.Write}, patternRule(policy.Blocked, "/home/u/project/**/.env"),
		patternRule(policy.BlockedWrite, "/home/u/project/**/.git/hooks"))
	land := newTerritory(tr, &Files{}, func(string) Inode { return Inode{} })
	for b.Loop() {
		land.judge("/home/u/project/node_modules/some-package/lib/internal/index.js", plan.Read)
	}
}

// TestWaypoint: no link may stand where a protection's pattern goes on below.
// The user's own patterns leave links alone.
func TestWaypoint(t *testing.T) {
	guard := func(path string) policy.PathRule {
		return policy.PathRule{Path: path, Kind: policy.BlockedWrite, Pattern: true, Builtin: true}
	}
	tr := tree(t, policy.PathRule{Path: "/p", Kind: policy.Write}, patternRule(policy.BlockedWrite, "/p/u/**/x"),
		guard("/p/m/**/hooks"), guard("/p/w/*/config"))
	land := newTerritory(tr, &Files{}, func(string) Inode { return Inode{} })
	for name, want := range map[string]bool{
		"": false, "/": false, "/p": false, "/p/f": false, "/p/u/d": false, "/p/m": false, "/p/mm/a": false,
		"/p/m/a": true, "/p/m/a/b": true, "/p/w/a": true, "/p/w/a/b": false, "/q/w/a": false,
	} {
		if got := land.waypoint(name) != nil; got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
