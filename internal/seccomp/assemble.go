// SPDX-License-Identifier: Apache-2.0

package seccomp

import "golang.org/x/net/bpf"

// assembler writes a program from its end to its start: jumps lead forward
// only, so the place of each jump's target is known when the jump is written.
type assembler struct {
	// space is filled from its end: the program is space[start:].
	space []bpf.RawInstruction
	start int
	rets  []returning
	// refusals says what the rules that refuse rare calls return.
	refusals Refusals
}

// label is an instruction's place, counted from the end of the program.
type label int

// returning is the place nearest to the start so far that returns a value.
type returning struct {
	value uint32
	at    label
}

// farthest is how many instructions a conditional jump can skip: struct
// sock_filter has 8 bits for it (linux/filter.h).
const farthest = 255

// newAssembler makes room for the programs that the tables make; more is made
// when needed.
func newAssembler(refusals Refusals) assembler {
	const room = 256
	return assembler{space: make([]bpf.RawInstruction, room), start: room, rets: make([]returning, 0, 8), refusals: refusals}
}

// emit writes an instruction before those written so far.
func (a *assembler) emit(i bpf.RawInstruction, _ error) label {
	if a.start == 0 {
		more := len(a.space)
		a.space, a.start = append(make([]bpf.RawInstruction, more), a.space...), more
	}
	a.start--
	a.space[a.start] = i
	return label(len(a.space) - a.start - 1)
}

// program returns the instructions, in the order in which they are executed.
func (a *assembler) program() []bpf.RawInstruction { return a.space[a.start:] }

// instruction is the one at a place.
func (a *assembler) instruction(at label) bpf.RawInstruction { return a.space[len(a.space)-1-int(at)] }

// ret finds or writes an instruction that returns a value.
func (a *assembler) ret(value uint32) label {
	for _, r := range a.rets {
		if r.value == value {
			return r.at
		}
	}
	at := a.emit(bpf.RetConstant{Val: value}.Assemble())
	a.rets = append(a.rets, returning{value, at})
	return at
}

// jump compares the accumulator with a value and goes on at yes or at no.
func (a *assembler) jump(cond bpf.JumpTest, value uint32, yes, no label) label {
	no = a.near(no, 1) // making yes near may write one instruction more
	yes = a.near(yes, 0)
	return a.emit(bpf.JumpIf{
		Cond: cond, Val: value,
		SkipTrue: uint8(a.skip(yes)), SkipFalse: uint8(a.skip(no)),
	}.Assemble())
}

// skip is how many instructions lie between the one written next and another.
func (a *assembler) skip(to label) int {
	return len(a.program()) - int(to) - 1
}

// near makes a place reachable for a conditional jump that follows after
// margin more instructions. Where it is too far, an instruction in between
// does the same: it returns the same value, or jumps on, since an
// unconditional jump has 32 bits for the distance.
func (a *assembler) near(to label, margin int) label {
	if a.skip(to)+margin <= farthest {
		return to
	}
	for i := range a.rets {
		if a.instruction(to) == a.instruction(a.rets[i].at) {
			if a.skip(a.rets[i].at)+margin > farthest {
				a.rets[i].at = a.emit(a.instruction(to), nil)
			}
			return a.rets[i].at
		}
	}
	return a.emit(bpf.Jump{Skip: uint32(a.skip(to))}.Assemble())
}

// load brings a word of seccomp_data into the accumulator.
func (a *assembler) load(offset uint32) label {
	return a.emit(bpf.LoadAbsolute{Off: offset, Size: 4}.Assemble())
}

// oneOf goes on at yes if the accumulator is one of the values, which are
// sorted. A long list is passed over at once by what is below all of it, as
// the requests of terminals are below those of file systems.
func (a *assembler) oneOf(values []uint32, yes, no label) label {
	at := a.halves(values, yes, no)
	if len(values) > 4 && values[0] > 0 {
		at = a.jump(bpf.JumpGreaterOrEqual, values[0], at, no)
	}
	return at
}

// halves is a search by halves.
func (a *assembler) halves(values []uint32, yes, no label) label {
	if len(values) <= 2 {
		at := no
		for i := len(values) - 1; i >= 0; i-- {
			at = a.jump(bpf.JumpEqual, values[i], yes, at)
		}
		return at
	}
	mid := len(values) / 2
	high := a.halves(values[mid:], yes, no)
	low := a.halves(values[:mid], yes, no)
	return a.jump(bpf.JumpGreaterOrEqual, values[mid], high, low)
}

// rules writes a list of rules: the first whose checks all hold decides, last
// is returned when none does.
func (a *assembler) rules(list []*rule, last uint32) label {
	next := a.ret(last)
	for i := len(list) - 1; i >= 0; i-- {
		var before *check
		// A single check leaves its word in the accumulator when it fails.
		if i > 0 && len(list[i-1].checks) == 1 {
			before = &list[i-1].checks[0]
		}
		next = a.rule(list[i], before, next)
	}
	return next
}

// rule writes the checks of one rule. before is the check that ran before, or
// nil if that is not known.
func (a *assembler) rule(r *rule, before *check, next label) label {
	at := a.ret(r.ret(a.refusals))
	for i := len(r.checks) - 1; i >= 0; i-- {
		c, prev := &r.checks[i], before
		if i > 0 {
			prev = &r.checks[i-1]
		}
		switch c.op {
		case in:
			at = a.oneOf(c.values, at, next)
		case notIn:
			at = a.oneOf(c.values, next, at)
		case anyBit:
			at = a.jump(bpf.JumpBitsSet, c.mask, at, next)
		}
		if prev != nil && prev.word == c.word && prev.and() == c.and() {
			continue
		}
		if c.and() != 0 {
			a.emit(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.and()}.Assemble())
		}
		at = a.load(c.word.offset())
	}
	return at
}

// and is the mask to apply before comparing, 0 for none: the jump of anyBit
// applies its own.
func (c *check) and() uint32 {
	if c.op == anyBit {
		return 0
	}
	return c.mask
}
