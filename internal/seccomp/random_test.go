// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRandomTables compiles tables that nobody would write, and compares the
// filter with a reading of the table from top to bottom. The compiler may
// share and leave out what it likes, as long as the answers are these.
func TestRandomTables(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 3))
		table := randomTable(random)
		code := assemble(arm64, [][]rule{table}, RefusalsBare)
		for range 2000 {
			c := call(random.IntN(numCalls))
			if calls[c].nr[arm64] < 0 {
				continue
			}
			d := data{nr: uint32(calls[c].nr[arm64]), arch: auditArch[arm64]}
			for i := range d.args {
				d.args[i] = uint64(random.IntN(6)) | uint64(random.IntN(2))<<32
			}
			want := fromTop(table, c, d)
			if got, _ := interpret(t, code, d); got != want {
				t.Fatalf("seed %d: %s with %#x: %#x, want %#x", seed, calls[c].name, d.args, got, want)
			}
		}
	}
}

// randomTable makes rules on few calls and few values, so that they meet.
func randomTable(random *rand.Rand) []rule {
	table := make([]rule, 30)
	for i := range table {
		r := &table[i]
		for range 1 + random.IntN(4) {
			r.calls = append(r.calls, call(random.IntN(40)))
		}
		slices.Sort(r.calls)
		r.calls = slices.Compact(r.calls)
		r.then = Verdict(random.IntN(3))
		r.errno = []Errno{EPERM, EACCES, ENOSYS, EPROTONOSUPPORT}[random.IntN(4)]
		for range random.IntN(4) {
			r.checks = append(r.checks, randomCheck(random))
		}
	}
	return table
}

func randomCheck(random *rand.Rand) check {
	c := check{word: word(random.IntN(5)), op: op(random.IntN(3)), mask: []uint32{0, 1, 3, 6}[random.IntN(4)]}
	if c.op == anyBit {
		c.mask |= 2
		return c
	}
	for v := range uint32(6) {
		if random.IntN(2) == 0 {
			c.values = append(c.values, v)
		}
	}
	if c.values == nil {
		c.values = []uint32{4}
	}
	return c
}

// fromTop reads a table as its description says.
func fromTop(table []rule, c call, d data) uint32 {
	for _, r := range table {
		if slices.Contains(r.calls, c) && !slices.ContainsFunc(r.checks, func(c check) bool { return !holdsFor(c, d) }) {
			return r.ret(RefusalsBare)
		}
	}
	return retAllow
}

func holdsFor(c check, d data) bool {
	var w uint32
	switch c.word {
	case arg0, arg1, arg2:
		w = uint32(d.args[c.word])
	case arg0High:
		w = uint32(d.args[0] >> 32)
	case arg2High:
		w = uint32(d.args[2] >> 32)
	}
	if c.mask != 0 {
		w &= c.mask
	}
	switch c.op {
	case in:
		return slices.Contains(c.values, w)
	case notIn:
		return !slices.Contains(c.values, w)
	}
	return w != 0
}
