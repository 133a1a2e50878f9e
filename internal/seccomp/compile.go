// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"slices"

	"golang.org/x/net/bpf"
)

// Offsets in struct seccomp_data (linux/seccomp.h).
const (
	offsetNr   = 0
	offsetArch = 4
)

// maxNumbers bounds the call numbers of the table.
const maxNumbers = 512

// outcome is what a call's number leads to: rules to try in order, and what to
// return when none of them holds.
type outcome struct {
	rules []*rule
	last  uint32
}

// span is a range of numbers with one outcome, up to the next span's first.
type span struct {
	first   uint32
	outcome *outcome
	// weight says how often its calls are made, for the shape of the search.
	weight int
	// at is where the program handles the outcome.
	at label
}

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
	var numbers [maxNumbers]*outcome
	fill(&numbers, a, active(c))
	return &Program{raw: assemble(a, spans(&numbers, a))}, nil
}

// fixed are the outcomes without rules. Pointers to them are compared, so that
// neighbours with the same answer become one span.
var fixed = [...]outcome{
	{last: retErrno | uint32(ENOSYS)},
	{last: retErrno | uint32(EPERM)},
	{last: retErrno | uint32(EACCES)},
	{last: retNotify},
	{last: retAllow},
}

const (
	unknown = 0
	allowed = len(fixed) - 1
)

// always finds the outcome that returns a value whatever the arguments.
func always(ret uint32) *outcome {
	for i := range fixed {
		if fixed[i].last == ret {
			return &fixed[i]
		}
	}
	return &outcome{last: ret}
}

// fill finds the outcome of every number: unknown ones answer ENOSYS, known
// ones are allowed, unless a rule says otherwise.
func fill(numbers *[maxNumbers]*outcome, a arch, groups [][]rule) {
	for i := range numbers {
		numbers[i] = &fixed[unknown]
	}
	for i := range calls {
		if nr := calls[i].nr[a]; nr >= 0 {
			numbers[nr] = &fixed[allowed]
		}
	}
	var lists []*outcome
	for _, group := range groups {
		for i := range group {
			for _, call := range group[i].calls {
				if nr := calls[call].nr[a]; nr >= 0 {
					numbers[nr] = numbers[nr].add(&group[i], &lists)
				}
			}
		}
	}
	share(numbers, lists)
}

// add appends a rule to an outcome. Rules after one without checks are never
// reached.
func (o *outcome) add(r *rule, lists *[]*outcome) *outcome {
	switch {
	case o.last != retAllow:
		return o
	case len(r.checks) == 0 && len(o.rules) == 0:
		return always(r.ret())
	case len(o.rules) == 0:
		o = &outcome{last: retAllow}
		*lists = append(*lists, o)
	}
	if len(r.checks) == 0 {
		o.last = r.ret()
	} else {
		o.rules = append(o.rules, r)
	}
	return o
}

// share makes numbers with the same rules use one list of them.
func share(numbers *[maxNumbers]*outcome, lists []*outcome) {
	for i, o := range numbers {
		if len(o.rules) == 0 {
			continue
		}
		for _, other := range lists {
			if o.last == other.last && slices.Equal(o.rules, other.rules) {
				numbers[i] = other
				break
			}
		}
	}
}

// spans joins neighbours with one outcome. The last span reaches to the
// highest number there is, and with it covers x32 calls (bit 30 set).
func spans(numbers *[maxNumbers]*outcome, a arch) []span {
	list := make([]span, 0, 192)
	for nr, o := range numbers {
		if len(list) == 0 || list[len(list)-1].outcome != o {
			list = append(list, span{first: uint32(nr), outcome: o, weight: 1})
		}
	}
	for _, h := range hot {
		nr := calls[h.call].nr[a]
		if nr < 0 {
			continue
		}
		i := len(list) - 1
		for list[i].first > uint32(nr) {
			i--
		}
		list[i].weight += h.weight
	}
	return list
}

// assemble writes the program, from its end to its start.
func assemble(a arch, list []span) []bpf.RawInstruction {
	b := assembler{code: make([]bpf.RawInstruction, 0, 512)}
	for i := range list {
		list[i].at = b.outcome(list, i)
	}
	b.search(list)
	root := b.load(offsetNr)
	b.jump(bpf.JumpEqual, auditArch[a], root, b.ret(retErrno|uint32(ENOSYS)))
	b.load(offsetArch)
	slices.Reverse(b.code)
	return b.code
}

// outcome finds or writes what a span leads to.
func (a *assembler) outcome(list []span, i int) label {
	for j := range list[:i] {
		if list[j].outcome == list[i].outcome {
			return list[j].at
		}
	}
	return a.rules(list[i].outcome.rules, list[i].outcome.last)
}

// search writes a binary search over spans: each comparison halves the weight,
// not the number of spans, so that frequent calls are found first.
func (a *assembler) search(list []span) label {
	if len(list) == 1 {
		return list[0].at
	}
	if len(list) == 3 && list[0].outcome == list[2].outcome && list[2].first == list[1].first+1 {
		return a.jump(bpf.JumpEqual, list[1].first, list[1].at, list[0].at)
	}
	mid := middle(list)
	high := a.search(list[mid:])
	low := a.search(list[:mid])
	return a.jump(bpf.JumpGreaterOrEqual, list[mid].first, high, low)
}

// middle finds where to cut a list of at least two spans into two parts of
// about the same weight, neither of them empty.
func middle(list []span) int {
	total := 0
	for i := range list {
		total += list[i].weight
	}
	left := 0
	for i := range list[:len(list)-1] {
		left += list[i].weight
		if 2*left >= total {
			// The cut before this span may be the more even one.
			if i > 0 && 2*left-total > total-2*(left-list[i].weight) {
				return i
			}
			return i + 1
		}
	}
	return len(list) - 1
}
