// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"slices"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// fewStand is a host on which only the listed names stand.
type fewStand struct {
	asNamed
	names []string
}

func (s fewStand) Resolve(name string) (plan.Object, error) {
	if slices.Contains(s.names, name) {
		return s.asNamed.Resolve(name)
	}
	return plan.Object{Path: name}, nil
}

func (s fewStand) Find(name string) (plan.Object, error) { return s.Resolve(name) }

// TestJudgeNewPlaces: a new place is the broker's, as far as what is made there
// was not given a rule before, and nothing around it changes.
func TestJudgeNewPlaces(t *testing.T) {
	host := fewStand{names: []string{"/", "/h", "/h/u", "/h/bin", "/r", "/w"}}
	var rules []policy.PathRule
	for name, kind := range map[string]policy.Kind{
		"/h/new": policy.Write, "/h/a/b": policy.Write, "/h/stocked": policy.Write, "/r": policy.Read, "/r/new": policy.Write,
		"/w": policy.Write, "/w/new": policy.Write, "/h/bin": policy.Read, "/h/part": policy.Write, "/h/part/x": policy.BlockedWrite,
	} {
		rules = append(rules, policy.PathRule{Path: name, Kind: kind})
	}
	p, err := plan.Compile(&policy.Resolved{Rules: rules, WorkDir: "/w"}, "", host)
	if err != nil {
		t.Fatal(err)
	}
	land := newTerritory(p.Tree, &Files{Native: map[Inode]plan.Mode{{2, 1}: plan.Write}}, func(name string) Inode {
		switch i := slices.Index(host.names, name); {
		case name == "/h/stocked":
			return Inode{2, 1}
		case i >= 0:
			return Inode{1, uint64(i + 1)}
		}
		return Inode{}
	})
	for _, c := range []struct {
		name        string
		read, write judgement
		itself      judgement
		awaited     bool
	}{
		{"/h/new", brokered, brokered, brokered, false}, {"/h/new/f", brokered, brokered, brokered, false},
		{"/h/stocked", native, native, brokered, false}, {"/h/stocked/f", native, native, native, false},
		{"/h/a", refused, refused, refused, true}, {"/h/a/b", brokered, brokered, brokered, false}, {"/h/a/c", refused, refused, refused, false},
		{"/r/new", native, brokered, brokered, false}, {"/r/new/f", native, brokered, brokered, false}, {"/r/f", native, refused, refused, false},
		{"/w/new", native, native, native, false}, {"/w/f", native, native, native, false},
		{"/h/bin/f", native, refused, refused, false}, {"/h/bin", native, refused, refused, false},
		{"/h/part", brokered, brokered, refused, true}, {"/h/part/f", brokered, brokered, brokered, false}, {"/h/part/x", brokered, refused, refused, false},
		{"/h", refused, refused, refused, false}, {"/h/u", refused, refused, refused, false}, {"/h/news", refused, refused, refused, false},
	} {
		read, _ := land.judge(c.name, plan.Read)
		write, _ := land.judge(c.name, plan.Write)
		itself, _ := land.judgeName(c.name)
		if read != c.read || write != c.write || itself != c.itself || land.awaited(c.name) != c.awaited {
			t.Errorf("%s: reading %v, writing %v, its name %v, awaited %v; want %+v", c.name, read, write, itself, land.awaited(c.name), c)
		}
	}
}
