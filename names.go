// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/internal/written"
	"github.com/ambit-sandbox/ambit/policy"
)

// names resolves the names that a run looks up outside of the sandbox. It
// knows what commands of earlier runs could have made of them.
type names struct {
	home   string // as HOME says
	state  string // the directory of Ambit's own state; "" is none
	record *written.Record
	host   *hostpath.Resolver
}

func namesFor(environ []string) *names {
	n := &names{home: variable(environ, "HOME")}
	n.state = written.Dir(n.home, variable(environ, "XDG_STATE_HOME"))
	n.record = written.Load(n.state)
	n.host = hostpath.After(n.record)
	return n
}

// trust refuses a directory, the value of a variable, that a command of an
// earlier run could have led elsewhere. Built-in policies grant what stands in
// HOME, and the private temporary folder is made in TMPDIR.
func (n *names) trust(variable, dir string) error {
	if dir == "" {
		return nil
	}
	obj, err := n.host.Resolve(dir)
	if err != nil {
		return nil // then nothing in it can be granted or made either
	}
	for _, l := range obj.Links {
		if l.Doubtful {
			return &hostpath.LinkError{Name: variable + ", which is " + dir, Link: l.Path}
		}
	}
	return nil
}

// The origins of the rules that own makes.
const (
	ownState  = "ambit's own state"
	ownPolicy = "the policy file itself"
)

// own returns blocks for what of Ambit's own a tree lets commands write: its
// state, with the record, and the files that the policy was read from.
func (n *names) own(tree *plan.Tree, layers ...policy.Layer) ([]policy.PathRule, error) {
	var rules []policy.PathRule
	add := func(name, origin string) error {
		obj, err := n.host.Resolve(name)
		// By the name that leads there: a block keeps the links on the way, too.
		if err == nil && (tree.Mode(obj.Path) == plan.Write || slices.ContainsFunc(obj.Links, func(l plan.Link) bool { return tree.Mode(l.Path) == plan.Write })) {
			rules = append(rules, policy.PathRule{Path: name, Kind: policy.BlockedWrite, Origin: origin})
		}
		return err
	}
	if n.record.Known() {
		if err := add(n.state, ownState); err != nil {
			return nil, err
		}
	}
	for _, l := range layers {
		if l.File == "" {
			continue
		}
		if err := n.trustPolicy(l.File, tree); err != nil {
			return nil, err
		}
		if err := add(l.File, ownPolicy); err != nil {
			return nil, &policyError{fmt.Errorf("cannot look up the policy file: %w", err)}
		}
	}
	return rules, nil
}

// trustPolicy refuses a policy file that a command of an earlier run could
// have written, or led Ambit to.
func (n *names) trustPolicy(file string, tree *plan.Tree) error {
	obj, err := n.host.Resolve(file)
	if err != nil {
		return &policyError{fmt.Errorf("cannot look up the policy file: %w", err)}
	}
	for _, l := range obj.Links {
		if l.Doubtful || tree.Mode(l.Path) == plan.Write {
			return &hostpath.LinkError{Name: "the policy file " + file, Link: l.Path}
		}
	}
	if place, yes := n.record.Covers(obj.Path); yes {
		return &policyError{fmt.Errorf("%w, or call it ambit.json, a name that is closed to commands in every workspace", &hostpath.PlaceError{Name: "the policy file " + file, Place: place})}
	}
	return nil
}

// kept lists the names that a run keeps closed to its command, and that a
// later run may rely on because of that.
func kept(tree *plan.Tree) []string {
	var out []string
	for _, n := range tree.Nodes() {
		r := n.Rule
		if r.Kind == policy.BlockedWrite && (r.Origin == ownState || r.Origin == ownPolicy || r.Builtin && strings.HasSuffix(r.Origin, ", "+policy.AmbitProtection)) {
			out = append(out, n.Path)
		}
	}
	return out
}

// record notes which places the command may write, before it starts.
func (n *names) recordWrites(p *plan.Plan) error {
	var places []string
	for _, g := range p.Tree.Grants() {
		if g.Mode == plan.Write && g.Object.Dir && g.Rule.Origin != policy.PrivateTmpOrigin {
			places = append(places, g.Path)
		}
	}
	for _, g := range p.Tree.NewPlaces() {
		places = append(places, g.Path)
	}
	return n.record.Add(places, kept(p.Tree), func(name string) bool { return p.Tree.Mode(name) == plan.Write })
}
