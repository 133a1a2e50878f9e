// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrInvalid is matched, by errors.Is, by every error that says that a
// policy, or the file it should be in, cannot be used.
var ErrInvalid = errors.New("policy invalid")

// Error is one thing that is wrong with a policy, and what to do about it. It
// matches [ErrInvalid]. It never holds the value of a variable or of a secret.
type Error struct {
	// Name is the layer: a file's name, or the flag.
	Name string
	// Line and Column count from 1; the column counts characters. Both are 0
	// where there is no text to point at.
	Line, Column int
	// Field names the place in the policy ("read_paths[2]"), or is empty.
	Field string
	// Msg says what is wrong, in lower case and without a full stop.
	Msg string
	// Hint says what to write or do instead, or is empty.
	Hint string
	// Err is the operating system's error behind it, or nil.
	Err error
}

// Error gives "name:line:column: message; hint".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Name != "" {
		b.WriteString(printable(e.Name) + ":")
	}
	if e.Line > 0 {
		b.WriteString(strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column) + ":")
	}
	if b.Len() > 0 {
		b.WriteString(" ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Is makes every Error match [ErrInvalid].
func (e *Error) Is(target error) bool { return target == ErrInvalid }

// Unwrap gives the operating system's error, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// problem makes an Error without a place, to which the caller who knows the
// layer's name and the text's positions adds them.
func problem(field, msg, hint string) *Error {
	return &Error{Field: field, Msg: msg, Hint: hint}
}

// printable leaves an ordinary file name as it is and quotes any other.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
		return quoted
	}
	return name
}

// quote shows text from a policy in a message: control characters escaped, so
// that a file cannot write to the reader's terminal, and cut to a length that
// leaves the message readable.
func quote(s string) string {
	const most = 80
	if len(s) <= most {
		return strconv.Quote(s)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strconv.Quote(s[:cut]) + "..."
}
