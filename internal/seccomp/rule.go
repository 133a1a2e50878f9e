// SPDX-License-Identifier: Apache-2.0

package seccomp

import "fmt"

// Errno is a Linux error number. It is a type of its own, and not that of
// package syscall, since filters are built and tested on every system, and
// the numbers are Linux's on each.
type Errno uint16

// The errors that filters answer.
const (
	EPERM           Errno = 1
	EACCES          Errno = 13
	EINVAL          Errno = 22
	ENOSYS          Errno = 38
	EPROTONOSUPPORT Errno = 93
	EOPNOTSUPP      Errno = 95
)

// String returns the error's name, as "EPERM".
func (e Errno) String() string {
	switch e {
	case EPERM:
		return "EPERM"
	case EACCES:
		return "EACCES"
	case EINVAL:
		return "EINVAL"
	case ENOSYS:
		return "ENOSYS"
	case EPROTONOSUPPORT:
		return "EPROTONOSUPPORT"
	case EOPNOTSUPP:
		return "EOPNOTSUPP"
	}
	return fmt.Sprintf("errno %d", uint16(e))
}

// rule is one reason, and the calls it holds for. The rules of a call are
// tried in order, the first whose checks all hold decides; a call for which
// none does is allowed.
type rule struct {
	calls []call
	// when says the checks in words; empty where there are none.
	when   string
	checks []check
	then   Verdict
	errno  Errno
	// name is set on rules that refuse rare calls: where refusals are trapped,
	// the filter traps the call to the broker, which answers errno and records
	// the refusal under this name.
	name   string
	reason string
	// source is where the kernel's behaviour, or the errno, is written down.
	source string
}

// check is a condition on one half of one argument.
type check struct {
	word word
	// mask is applied first; 0 takes the whole word.
	mask uint32
	op   op
	// values are sorted, since a long list is searched by halves.
	values []uint32
}

// word names half of an argument: a filter loads 32 bits at a time.
type word uint8

// The kernel reads an int argument from the low half alone, so a rule on one
// must not look at the high half; the opposite holds for pointers.
const (
	arg0 word = iota
	arg1
	arg2
	arg0High
	arg2High
)

// offset is the word's place in struct seccomp_data (linux/seccomp.h): number,
// architecture, 64-bit instruction pointer, six 64-bit arguments. Both
// supported architectures are little-endian: the low half comes first.
func (w word) offset() uint32 {
	switch w {
	case arg0High:
		return 16 + 4
	case arg2High:
		return 16 + 2*8 + 4
	}
	return 16 + 8*uint32(w)
}

// op says how a word is compared.
type op uint8

const (
	// in holds for a word that is one of the values.
	in op = iota
	// notIn holds for a word that is none of the values.
	notIn
	// anyBit holds for a word that has a bit of the mask set.
	anyBit
)

// ret is the value that the filter returns for the rule.
func (r *rule) ret(refusals Refusals) uint32 {
	switch {
	case r.then == Allow:
		return retAllow
	case r.then == Notify, refusals == RefusalsTrapped && r.name != "":
		return retNotify
	}
	return retErrno | uint32(r.errno)
}

// What a filter returns: an action in the high half, data in the low one
// (seccomp(2), "Filter return values").
const (
	retErrno  = 0x00050000
	retNotify = 0x7fc00000
	retAllow  = 0x7fff0000
)
