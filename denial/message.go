// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"slices"
	"strings"
)

// Message is one line in which a program says that something was refused with
// EACCES, and the names in it that may be meant. It proves nothing: a program
// can print what it likes.
type Message struct {
	// Names are paths as the program writes them, the likeliest first:
	// absolute, relative, or with "~/" for the home. Some may be other words.
	Names []string
	// Access is what the program wanted, empty if the line does not say so.
	Access Access
	// Call is "unlink" where a name was to be taken away, else empty.
	Call string
}

// Bounds of what is looked at: a program chooses what it prints.
const (
	mostMessages = 16
	mostNames    = 4
	longestName  = 1024
)

// refusals are how programs write EACCES, in lower case. That is what Landlock
// answers where a rule is missing (current_check_access_path in
// security/landlock/fs.c). EPERM and EROFS have other causes.
var refusals = []string{"permission denied", "eacces", "accessdeniedexception"}

// Messages finds the refusals in what a program wrote to stderr, the last one
// first. It knows the forms of English messages.
func Messages(stderr string) []Message {
	var list []Message
	for more := true; more && len(list) < mostMessages; {
		line := stderr
		if i := strings.LastIndexByte(stderr, '\n'); i < 0 {
			more = false
		} else {
			stderr, line = stderr[:i], stderr[i+1:]
		}
		if m := message(strings.TrimRight(line, "\r")); len(m.Names) > 0 {
			list = append(list, m)
		}
	}
	return list
}

func message(line string) Message {
	lower := lowerASCII(line)
	start, end := refusal(lower)
	if start < 0 {
		return Message{}
	}
	names := ruby(line[end:])
	if names == nil {
		names = quoted(line)
	}
	if !slices.ContainsFunc(names, rooted) {
		names = slices.Concat(names, before(line[:start]), after(line[end:]))
	}
	m := Message{Names: plausible(names)}
	m.Access, m.Call = wanted(lower, m.Names)
	return m
}

// refusal finds where a line begins to say that something was refused, and
// where it ends to say so; -1 if it does not.
func refusal(lower string) (start, end int) {
	start = -1
	for _, r := range refusals {
		switch i := strings.Index(lower, r); {
		case i < 0:
		case start < 0:
			start, end = i, i+len(r)
		default: // "EACCES: permission denied"
			start = min(start, i)
		}
	}
	return start, end
}

// lowerASCII keeps the length, as strings.ToLower does not.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// plausible drops what can't be a name.
func plausible(names []string) []string {
	var list []string
	for _, n := range names {
		if n != "" && len(n) <= longestName && len(list) < mostNames && !strings.ContainsRune(n, 0) {
			list = append(list, n)
		}
	}
	return list
}
