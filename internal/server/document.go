// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// textError is one thing that is wrong in a text, with its place.
type textError struct {
	name         string
	line, column int
	msg, hint    string
}

func (e *textError) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.name, e.line, e.column, e.msg)
	if e.hint != "" {
		s += "; " + e.hint
	}
	return s
}

// syntax says which dialect a text is in.
type syntax int

const (
	plainJSON    syntax = iota // what machines send
	withComments               // what people write
)

// maxDepth bounds nesting: the parser calls itself for each level.
const maxDepth = 32

// document is a text that was read strictly.
type document struct {
	name string
	data []byte
}

// at makes an error about the text at an offset.
func (d *document) at(offset int, msg, hint string) *textError {
	before := d.data[:min(max(offset, 0), len(d.data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return &textError{name: d.name, line: 1 + bytes.Count(before, []byte("\n")),
		column: 1 + utf8.RuneCount(before[start:]), msg: msg, hint: hint}
}

// parse reads one JSON value and nothing behind it.
func (d *document) parse(s syntax) (hujson.Value, error) {
	if i := invalidUTF8(d.data); i >= 0 {
		return hujson.Value{}, d.at(i, "the text is not UTF-8", "send other bytes in base64, where the field allows it")
	}
	if i := tooDeep(d.data); i >= 0 {
		return hujson.Value{}, d.at(i, fmt.Sprintf("more than %d levels are nested", maxDepth), "")
	}
	// The copy is needed, the result aliases it. The line break lets a line
	// comment end the text.
	v, err := hujson.Parse(append(bytes.Clone(d.data), '\n'))
	if err != nil {
		return v, d.syntaxError(err)
	}
	if s == plainJSON && !v.IsStandard() {
		return v, d.at(0, "comments and trailing commas are not JSON", "leave them out")
	}
	return v, nil
}

// syntaxError takes the place out of the parser's message ("hujson: line 1,
// column 2: ..."), which has no other form.
func (d *document) syntaxError(err error) error {
	e := &textError{name: d.name, line: 1, column: 1, msg: "the text is not JSON", hint: "check the quotes, commas and brackets around this place"}
	msg := strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(msg, "line %d, column %d", &e.line, &e.column); n == 2 {
		if _, rest, ok := strings.Cut(msg, ": "); ok {
			e.msg = rest
		}
	}
	return e
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns where the text is nested too deep, or -1. It may count a
// bracket in a comment, never miss one in the value.
func tooDeep(data []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted && c == '\n': // no string holds one: it was an apostrophe's like in a comment
			quoted = false
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}
