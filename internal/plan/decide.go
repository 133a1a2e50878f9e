// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/ambit-sandbox/ambit/policy"

// decide returns the mode of a place and the rule that decided it:
//
//   - a block at or above it wins over everything;
//   - else the nearest grant that a user listed decides;
//   - a built-in grant at the same place or nearer may add to that, and never
//     takes away (it says "readable where present", not "read only");
//   - a write block at or above takes writing away, a built-in one not where
//     the user listed a write grant at its place or nearer.
func decide(name string, at map[string][]policy.PathRule) (Mode, policy.PathRule) {
	var (
		mode           Mode
		by             policy.PathRule
		block, noWrite *policy.PathRule
		builtin        = None
		builtinBy      policy.PathRule
		settled        bool
		asked          bool // a user asked for writing here
	)
	for p, ok := name, true; ok; p, ok = parent(p) {
		m, _ := strongest(at[p], listedRules)
		asked = asked || m == Write
		for i := range at[p] {
			r := &at[p][i]
			switch {
			case r.Kind == policy.Blocked && block == nil:
				block = r
			case r.Kind == policy.BlockedWrite && noWrite == nil && !(r.Builtin && asked):
				noWrite = r
			}
		}
		if settled {
			continue
		}
		if m, r := strongest(at[p], builtinRules); m > builtin {
			builtin, builtinBy = m, r
		}
		if m, r := strongest(at[p], listedRules); m > None {
			mode, by, settled = m, r, true
		}
	}
	if builtin > mode {
		mode, by = builtin, builtinBy
	}
	switch {
	case block != nil:
		return None, *block
	case noWrite != nil && mode == Write:
		return Read, *noWrite
	case noWrite != nil && mode == None:
		return None, *noWrite
	}
	return mode, by
}

func builtinRules(r policy.PathRule) bool { return r.Builtin }
func listedRules(r policy.PathRule) bool  { return !r.Builtin }

// strongest returns the highest mode that the chosen rules grant.
func strongest(rules []policy.PathRule, choose func(policy.PathRule) bool) (Mode, policy.PathRule) {
	m, by := None, policy.PathRule{}
	for _, r := range rules {
		if choose(r) && grants(r.Kind) > m {
			m, by = grants(r.Kind), r
		}
	}
	return m, by
}

// grants returns the mode that a rule of this kind gives.
func grants(k policy.Kind) Mode {
	switch k {
	case policy.Read:
		return Read
	case policy.Write:
		return Write
	}
	return None
}
