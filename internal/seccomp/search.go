// SPDX-License-Identifier: Apache-2.0

package seccomp

import "golang.org/x/net/bpf"

// Offsets in struct seccomp_data (linux/seccomp.h).
const (
	offsetNr   = 0
	offsetArch = 4
)

type rawInstruction = bpf.RawInstruction

// span is a range of numbers with one outcome, up to the next span's first.
type span struct {
	first   uint32
	outcome uint16
	// weight says how often its calls are made, for the shape of the search.
	weight uint16
}

// spans lists the ranges of numbers with one outcome. The last reaches to the
// highest number there is, and with it covers the x32 calls (bit 30 set).
func (p *plan) spans(a arch) []span {
	list := p.room.spans[:0]
	for nr, o := range p.numbers {
		if nr == 0 || list[len(list)-1].outcome != o {
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

// search writes the program: the check of the architecture, the search for the
// number, and what the outcomes lead to.
func search(a arch, list []span, outcomes []outcome, refusals Refusals) []rawInstruction {
	s := searcher{assembler: newAssembler(refusals), outcomes: outcomes}
	for _, span := range list {
		if o := &outcomes[span.outcome]; !o.written {
			o.at, o.written = s.rules(o.rules, o.last), true
		}
	}
	s.spans(list)
	root := s.load(offsetNr)
	s.jump(bpf.JumpEqual, auditArch[a], root, s.ret(retErrno|uint32(ENOSYS)))
	s.load(offsetArch)
	return s.program()
}

// searcher is an assembler that knows where the program handles each outcome.
type searcher struct {
	assembler
	outcomes []outcome
}

// place is where the program handles a span.
func (s *searcher) place(of span) label { return s.outcomes[of.outcome].at }

// spans writes a binary search: each comparison halves the weight, not the
// number of spans, so that frequent calls are found first.
func (s *searcher) spans(list []span) label {
	if len(list) == 1 {
		return s.place(list[0])
	}
	if len(list) == 3 && list[0].outcome == list[2].outcome && list[2].first == list[1].first+1 {
		return s.jump(bpf.JumpEqual, list[1].first, s.place(list[1]), s.place(list[0]))
	}
	mid := middle(list)
	high := s.spans(list[mid:])
	low := s.spans(list[:mid])
	return s.jump(bpf.JumpGreaterOrEqual, list[mid].first, high, low)
}

// middle finds where to cut a list of at least two spans into two parts of
// about the same weight, neither of them empty.
func middle(list []span) int {
	total := 0
	for i := range list {
		total += int(list[i].weight)
	}
	left := 0
	for i := range list[:len(list)-1] {
		left += int(list[i].weight)
		if 2*left < total {
			continue
		}
		// The cut before this span may be the more even one.
		if i > 0 && 2*left-total > total-2*(left-int(list[i].weight)) {
			return i
		}
		return i + 1
	}
	return len(list) - 1
}
