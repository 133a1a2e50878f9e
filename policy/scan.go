// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"unicode/utf8"
)

// mostDepth bounds nesting. A policy needs 3; the parser recurses, and a
// goroutine's stack that overflows cannot be recovered from.
const mostDepth = 32

// fault is what is wrong at an offset of the text.
type fault struct {
	at        int
	msg, hint string
}

// scanner looks at the text before the parser does, for what the parser
// would report unclearly, at the wrong place, or by overflowing the stack:
// unclosed and mismatched brackets, strings and comments, a value that is no
// object or is followed by more.
type scanner struct {
	data []byte
	at   int
	open []int // offsets of the brackets that are open
}

// scan gives the first fault, or nil. Text that passes is one bracketed
// object, within the depth, with all strings and comments closed.
func scan(data []byte) *fault {
	if f := checkBytes(data); f != nil {
		return f
	}
	s := scanner{data: data}
	started := false
	for {
		if f := s.skipExtra(); f != nil {
			return f
		}
		if s.at == len(data) {
			return s.end(started)
		}
		switch {
		case !started && data[s.at] != '{':
			return &fault{s.at, "a policy must be an object, not " + kindAt(data[s.at:]), "start it with {"}
		case started && len(s.open) == 0:
			return &fault{s.at, "there is more text after the policy's closing }", "a file holds one object"}
		}
		started = true
		if f := s.token(); f != nil {
			return f
		}
	}
}

// checkBytes refuses what is not UTF-8 text.
func checkBytes(data []byte) *fault {
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return &fault{0, "the file starts with a byte order mark", "save it as UTF-8 without one"}
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return &fault{i, "the text is not valid UTF-8", "save it as UTF-8; a path that is not UTF-8 can only be given by a flag"}
		case r == 0:
			return &fault{i, "the text holds a NUL byte", "a policy is a text file"}
		}
		i += n
	}
	return nil
}

// end judges a text that is over.
func (s *scanner) end(started bool) *fault {
	switch {
	case len(s.data) == 0:
		return &fault{0, "the file is empty", "write at least {}"}
	case !started:
		return &fault{0, "the file holds no policy, only blanks or comments", "write at least {}"}
	case len(s.open) > 0:
		at := s.open[len(s.open)-1]
		return &fault{at, "this " + string(s.data[at]) + " is never closed", "add the missing " + string(closing(s.data[at]))}
	}
	return nil
}

// skipExtra passes blanks and comments. A line comment may end the file.
func (s *scanner) skipExtra() *fault {
	for s.at < len(s.data) {
		rest := s.data[s.at:]
		switch {
		case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
			s.at++
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest) - 1
			}
			s.at += end + 1
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return &fault{s.at, "this comment is never closed", "add the missing */"}
			}
			s.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

// token passes one string, bracket or other byte.
func (s *scanner) token() *fault {
	c := s.data[s.at]
	switch c {
	case '"':
		return s.str()
	case '{', '[':
		if len(s.open) == mostDepth {
			return &fault{s.at, "the text is nested too deeply", "a policy has at most three levels"}
		}
		s.open = append(s.open, s.at)
	case '}', ']':
		at := s.open[len(s.open)-1] // scan stops when all are closed
		if want := closing(s.data[at]); c != want {
			return &fault{s.at, string(c) + " does not close the " + string(s.data[at]) + " that is open here",
				"write " + string(want) + " first"}
		}
		s.open = s.open[:len(s.open)-1]
	}
	s.at++
	return nil
}

func closing(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ']'
}
