// SPDX-License-Identifier: Apache-2.0

package seccomp

import "slices"

// Refusal is the answer to a call that the filter trapped only so that its
// refusal can be recorded.
type Refusal struct {
	// Name is the short name of the rule, as "network"; Reason says why the
	// rule is there.
	Name, Reason string
	// Call is the call's name.
	Call string
	// Asked says what the call asked for, as "AF_INET SOCK_STREAM socket".
	Asked string
	// Errno is what the rule answers.
	Errno Errno
	// Network says what the call has to do with a network that the policy closes.
	Network NetworkUse
}

// Refused finds the rule that refuses a trapped call. It decides on the same
// rules as the filter, and on numbers that nobody can change while the call
// waits. ok is false where the first rule that holds is none of those that
// [RefusalsTrapped] traps.
func Refused(archName string, c Config, nr uint32, args [6]uint64) (r Refusal, ok bool) {
	a, err := parseArch(archName)
	if err != nil {
		return Refusal{}, false
	}
	called, ok := callOf(a, nr)
	if !ok {
		return Refusal{}, false
	}
	found := decide(c, called, args)
	if found == nil || found.then != Refuse || found.name == "" {
		return Refusal{}, false
	}
	return Refusal{
		Name: found.name, Reason: found.reason, Call: calls[called].name, Errno: found.errno,
		Asked: asked(called, found.name, args), Network: c.networkUse(called, args),
	}, true
}

// callOf finds the call that has a number.
func callOf(a arch, nr uint32) (call, bool) {
	for i := range calls {
		if n := calls[i].nr[a]; n >= 0 && uint32(n) == nr {
			return call(i), true
		}
	}
	return 0, false
}

// decide returns the first rule that holds for a call, nil if none does.
func decide(c Config, called call, args [6]uint64) *rule {
	for _, group := range active(c) {
		for i := range group {
			if slices.Contains(group[i].calls, called) && group[i].holds(args) {
				return &group[i]
			}
		}
	}
	return nil
}

func (r *rule) holds(args [6]uint64) bool {
	for i := range r.checks {
		if !r.checks[i].holds(args) {
			return false
		}
	}
	return true
}

// holds compares a word as the instructions of [assembler.rule] do.
func (c *check) holds(args [6]uint64) bool {
	w := c.word.of(args)
	switch {
	case c.op == anyBit:
		return w&c.mask != 0
	case c.mask != 0:
		w &= c.mask
	}
	return slices.Contains(c.values, w) == (c.op == in)
}

// of takes the word out of a call's arguments.
func (w word) of(args [6]uint64) uint32 {
	switch w {
	case arg0High:
		return uint32(args[0] >> 32)
	case arg2High:
		return uint32(args[2] >> 32)
	}
	return uint32(args[w])
}
