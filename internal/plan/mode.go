// SPDX-License-Identifier: Apache-2.0

// Package plan turns a resolved policy into a plan: what a run must enforce,
// in the canonical names of this host and in a fixed order. It is pure. The
// host is asked only through [Resolver], so the same policy and the same
// answers give the same plan on every system, and golden tests can say so.
package plan

import "fmt"

// Mode is what the command may do with a file object.
type Mode uint8

// The modes are ordered: each allows what the one before it allows.
const (
	// None: neither readable nor writable.
	None Mode = iota
	// Read: readable and executable.
	Read
	// Write: readable, executable and writable, data and metadata.
	Write
)

// String returns "none", "read" or "write".
func (m Mode) String() string {
	switch m {
	case None:
		return "none"
	case Read:
		return "read"
	case Write:
		return "write"
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// MarshalText makes a mode a word in JSON.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (m *Mode) UnmarshalText(b []byte) error {
	for _, c := range []Mode{None, Read, Write} {
		if c.String() == string(b) {
			*m = c
			return nil
		}
	}
	return fmt.Errorf("cannot read mode %q: it is none, read or write", b)
}
