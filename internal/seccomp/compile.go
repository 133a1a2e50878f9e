// SPDX-License-Identifier: Apache-2.0

package seccomp

import "slices"

// maxNumbers bounds the call numbers of the table.
const maxNumbers = 512

// outcome is what a call's number leads to: rules to try in order, and what to
// return when none of them holds.
type outcome struct {
	rules []*rule
	last  uint32
	// final is set once a rule without checks has been added: those after it
	// are never reached.
	final bool
	// at is where the program handles the outcome, once written is set.
	at      label
	written bool
}

// plan says which outcome each number has, as an index into outcomes.
//
// Compiling is paid at the start of every command, in a process that has just
// begun, where each page that is touched first costs more than the work on it.
// So the plan is one piece of memory, with room for what the tables need; what
// is larger goes elsewhere by itself. The tables are in order already: no map,
// no sort.
type plan struct {
	numbers  [maxNumbers]uint16
	outcomes []outcome
	refusals Refusals
	room     struct {
		outcomes [40]outcome
		rules    [20 * rulesEach]*rule
		same     [40]uint16
		spans    [224]span
	}
	// free is the rest of room.rules.
	free []*rule
}

// rulesEach is how many rules there is room for in an outcome that has some.
const rulesEach = 8

// The outcomes that every plan has.
const (
	unknown = 0 // ENOSYS, for a number that is not in the table
	open    = 1 // allowed, for a call that no rule speaks of
)

// Compile builds the filter for an architecture, named as in runtime.GOARCH.
// It fails with *ArchError or *ConfigError.
func Compile(archName string, c Config) (*Program, error) {
	a, err := parseArch(archName)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	groups := active(c)
	return &Program{raw: assemble(a, groups[:], c.Refusals)}, nil
}

// assemble builds the filter for groups of rules.
func assemble(a arch, groups [][]rule, refusals Refusals) []rawInstruction {
	p := &plan{refusals: refusals}
	p.outcomes, p.free = p.room.outcomes[:0], p.room.rules[:]
	p.outcomes = append(p.outcomes, outcome{last: retErrno | uint32(ENOSYS), final: true}, outcome{last: retAllow})
	p.fill(a, groups)
	p.share()
	return search(a, p.spans(a), p.outcomes, refusals)
}

// fill finds the outcome of every number.
func (p *plan) fill(a arch, groups [][]rule) {
	for i := range calls {
		if nr := calls[i].nr[a]; nr >= 0 {
			p.numbers[nr] = open
		}
	}
	for _, group := range groups {
		for i := range group {
			for _, call := range group[i].calls {
				if nr := calls[call].nr[a]; nr >= 0 {
					p.numbers[nr] = p.add(p.numbers[nr], &group[i])
				}
			}
		}
	}
}

// add finds the outcome that has one more rule than another.
func (p *plan) add(to uint16, r *rule) uint16 {
	switch {
	case p.outcomes[to].final:
		return to
	case len(r.checks) == 0 && to == open:
		return p.always(r.ret(p.refusals))
	case to == open:
		p.outcomes = append(p.outcomes, outcome{rules: p.rules(), last: retAllow})
		to = uint16(len(p.outcomes) - 1)
	}
	o := &p.outcomes[to]
	if len(r.checks) == 0 {
		o.last, o.final = r.ret(p.refusals), true
	} else {
		o.rules = append(o.rules, r)
	}
	return to
}

// rules returns an empty list that has room.
func (p *plan) rules() []*rule {
	if len(p.free) < rulesEach {
		return nil
	}
	list := p.free[:0:rulesEach]
	p.free = p.free[rulesEach:]
	return list
}

// always finds or makes the outcome that returns a value without a check.
func (p *plan) always(ret uint32) uint16 {
	for i := range p.outcomes {
		if o := &p.outcomes[i]; o.final && o.last == ret && len(o.rules) == 0 {
			return uint16(i)
		}
	}
	p.outcomes = append(p.outcomes, outcome{last: ret, final: true})
	return uint16(len(p.outcomes) - 1)
}

// share makes numbers with the same rules have the same outcome, so that the
// program has each once, and neighbours become one span.
func (p *plan) share() {
	same := p.room.same[:0]
	for i := range p.outcomes {
		same = append(same, uint16(slices.IndexFunc(p.outcomes, func(o outcome) bool {
			return o.last == p.outcomes[i].last && slices.Equal(o.rules, p.outcomes[i].rules)
		})))
	}
	for nr, i := range p.numbers {
		p.numbers[nr] = same[i]
	}
}
