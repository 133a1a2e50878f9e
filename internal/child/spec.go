// SPDX-License-Identifier: Apache-2.0

// Package child is the launcher: the part of a run between the re-execution
// of this binary and the command's execve.
//
//	supervisor (ambit)                  launcher                        command
//	    | -- exec of /proc/self/exe ----> | subreaper, own process group   .
//	    | (plans, chooses a backend)      |                                .
//	    | -- launch: spec, descriptors -> | signal domain                  .
//	    |                                 | -- vfork --------------------> | limits, privileges,
//	    | <- listener (if asked for) -------------------------------------- | Landlock, seccomp
//	    | -- go: the broker is ready -------------------------------------> |
//	    | <- started, or a step's error - | <- a failed step, or none ---- | execve
//	    | -- signal n ------------------> | -- kill(n) ------------------> |
//	    | -- end of connection ---------> | -- kill everything             |
//	    | <- ended, wait status --------- | <- wait4 --------------------- | exit
//	    |                                 | kills and reaps what is left
//	    | <- end of connection ---------- | exit
//
// The launcher is started before there is anything to launch, so that its own
// start, which takes as long as the planning, goes on beside it. A connection
// that ends before the launch message means that there is nothing to do.
//
// The launcher stays outside of the command's restrictions, as the process
// that everything below it falls to: whichever of the two others ends first,
// it ends the tree.
package child

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Spec is everything that the launcher must know. It travels over a sealed
// memory file, so neither argv nor the environment shows any of it, and
// nobody can change it on the way.
type Spec struct {
	// Files are the paths to try to execute, in order.
	Files []string
	Argv  []string
	Env   []string
	// Tmp is the run's private temporary folder, removed in the end.
	Tmp    string
	Limits []Rlimit
	// RestrictFlags goes to landlock_restrict_self(2).
	RestrictFlags uint32
	// Filter is the seccomp program, 8 bytes an instruction.
	Filter      []byte
	FilterFlags uint32
	// Guard says how the launcher comes into the domain around the command,
	// in which it can send signals to the command's tree and nowhere else.
	Guard Guard
}

// Guard is the launcher's way into its domain.
type Guard uint8

const (
	// NoGuard: the kernel can't scope signals.
	NoGuard Guard = iota
	// EnterGuard: a ruleset is passed for it.
	EnterGuard
	// InheritGuard: the supervisor's thread that started it is in it.
	InheritGuard
)

// Rlimit is a resource limit, soft and hard the same unless Soft differs.
type Rlimit struct {
	Resource   int
	Soft, Hard uint64
}

// errSpec is a spec that is cut short or has something behind its end.
var errSpec = errors.New("cannot decode the launch spec: it is malformed")

// Encode writes the spec: strings are length-prefixed, since names and values
// may hold any byte but NUL.
func (s *Spec) Encode() []byte {
	var b []byte
	for _, list := range [][]string{s.Files, s.Argv, s.Env, {s.Tmp, string(s.Filter)}} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, v := range list {
			b = binary.AppendUvarint(b, uint64(len(v)))
			b = append(b, v...)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(s.Limits)))
	for _, l := range s.Limits {
		for _, v := range []uint64{uint64(l.Resource), l.Soft, l.Hard} {
			b = binary.AppendUvarint(b, v)
		}
	}
	for _, v := range []uint64{uint64(s.RestrictFlags), uint64(s.FilterFlags), uint64(s.Guard)} {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// Decode reads what Encode wrote.
func Decode(b []byte) (*Spec, error) {
	d := decoder{rest: b}
	s := &Spec{Files: d.strings(), Argv: d.strings(), Env: d.strings()}
	if two := d.strings(); len(two) == 2 {
		s.Tmp, s.Filter = two[0], []byte(two[1])
	} else {
		d.bad = true
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		s.Limits = append(s.Limits, Rlimit{int(d.number()), d.number(), d.number()})
	}
	s.RestrictFlags, s.FilterFlags = uint32(d.number()), uint32(d.number())
	s.Guard = Guard(d.number())
	if d.bad || len(d.rest) != 0 || len(s.Argv) == 0 || len(s.Files) == 0 {
		return nil, errSpec
	}
	return s, nil
}

type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads a number of elements, each of which takes a byte at least.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.bad, n = true, 0
	}
	return int(n)
}

func (d *decoder) strings() []string {
	n := d.count()
	out := make([]string, 0, n)
	for ; n > 0 && !d.bad; n-- {
		size := d.count()
		if d.bad {
			break
		}
		out = append(out, string(d.rest[:size]))
		d.rest = d.rest[size:]
	}
	return out
}

// StepError is a step of the set-up that the kernel refused. The command has
// not run.
type StepError struct {
	// Step names it, as "landlock_restrict_self".
	Step string
	// Object is what it was about, if that says more.
	Object string
	Err    error
}

func (e *StepError) Error() string {
	if e.Object == "" {
		return fmt.Sprintf("cannot set up the sandbox: %s: %v", e.Step, e.Err)
	}
	return fmt.Sprintf("cannot set up the sandbox: %s (%s): %v", e.Step, e.Object, e.Err)
}

func (e *StepError) Unwrap() error { return e.Err }
