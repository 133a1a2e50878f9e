// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// addGrants works out what would let the refused calls through, and whether
// they were meant for the network.
func (r *runner) addGrants() {
	if len(r.receipt.Denials) == 0 || r.plan == nil {
		return
	}
	on := r.places()
	for i := range r.receipt.Denials {
		d := &r.receipt.Denials[i]
		if d.Grant = denial.NetworkGrant(d); d.Grant == nil {
			d.Grant = denial.GrantFor(d, on)
		}
	}
	if o := r.receipt.Outcome; o != nil {
		r.receipt.NetworkDenied = denial.NetworkDenied(r.receipt.Denials, o.ExitCode)
	}
}

// places are what grants of this run's policy have to respect.
func (r *runner) places() *denial.Places {
	homes := []string{canonical(variable(r.environ, "HOME")), canonical(passwdHome(os.Getuid()))}
	return &denial.Places{Look: look, Guarded: guarded(r.plan, homes)}
}

func look(name string) denial.Kind {
	var st syscall.Stat_t
	switch err := syscall.Lstat(name, &st); {
	case err == syscall.ENOENT || err == syscall.ENOTDIR:
		return denial.Missing
	case err == nil && st.Mode&syscall.S_IFMT != syscall.S_IFDIR:
		return denial.Other
	}
	return denial.Directory
}

// guarded lists what no suggested grant may cover. Whoever follows a suggestion
// means one object, and gets what else a directory holds with it.
func guarded(p *plan.Plan, homes []string) []denial.Guarded {
	var list []denial.Guarded
	for _, home := range homes {
		if home != "" && home != "/" {
			list = append(list, denial.Guarded{Path: home, Why: "the home, with all keys and settings in it"})
		}
	}
	for _, n := range p.Tree.Nodes() {
		list = guard(list, n.Path, n.Rule)
	}
	for _, l := range p.Listed {
		if l.Pattern {
			list = guard(list, policy.ParsePattern(l.Canonical).Base, l.PathRule)
		}
	}
	return append(list, denial.Guarded{Path: p.WorkDir.Path, Why: "what stands around the project", Below: true})
}

// guard adds what a rule wants kept, if anything.
func guard(list []denial.Guarded, name string, r policy.PathRule) []denial.Guarded {
	switch {
	case r.Kind == policy.Blocked || r.Kind == policy.BlockedWrite:
		return append(list, denial.Guarded{Path: name, Why: "what stands around a place that " + r.Origin + " closes on purpose"})
	case r.Builtin:
		return append(list, denial.Guarded{Path: name, Why: "a directory of the system"})
	}
	return list
}
