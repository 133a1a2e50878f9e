// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// syntaxFault puts the parser's complaint into words of ours. The parser's
// own are not passed on: some of them hold the text, which may be the value
// of a variable.
func syntaxFault(data []byte, err error) *fault {
	var line, column int
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return &fault{0, "this is not JSON with comments", ""}
	}
	at := offset(data, line, column)
	says := func(part string) bool { return strings.Contains(err.Error(), part) }
	switch {
	case says("after object value"), says("after array value"):
		return &fault{at, "a comma is missing before this", "put one after the value above"}
	case says("after object name"):
		return &fault{at, "a colon is missing between the field's name and its value", `write "name": value`}
	case says("at start of object name"):
		return &fault{at, "a field's name is expected here", `write it in double quotes: "name": value`}
	case says("in line comment"):
		return &fault{at, "the comment holds a line separator (U+2028 or U+2029)", "remove it"}
	case at < len(data) && strings.IndexByte("}],:", data[at]) >= 0:
		return &fault{at, "a value is expected here, not " + string(data[at]), "add the value, or remove a comma or colon too many"}
	}
	return wordFault(data, at)
}

// wordFault judges a word that is no JSON value, by what stands around it.
func wordFault(data []byte, at int) *fault {
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-'"
	after := bytes.TrimLeft(bytes.TrimLeft(data[at:], word), " \t")
	switch {
	case bytes.HasPrefix(after, []byte(":")):
		return &fault{at, "a field's name must be in double quotes", `write "name": value`}
	case at < len(data) && strings.IndexByte("+-.0123456789", data[at]) >= 0:
		return &fault{at, "this is not a number", "write plain digits"}
	}
	return &fault{at, "this is not a JSON value", "strings need double quotes; the words are true and false"}
}

// offset is the inverse of the parser's position, whose column counts bytes.
func offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		at += bytes.IndexByte(data[at:], '\n') + 1
	}
	return min(at+column-1, len(data))
}

// kindName says in words what a JSON value is.
func kindName(kind hujson.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't':
		return "true"
	case 'f':
		return "false"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "a list"
	}
	return "an object"
}

// kindAt guesses it from the first byte, for text that is not parsed.
func kindAt(text []byte) string {
	switch c := text[0]; {
	case c == '"' || c == '\'':
		return "a string"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	case c == '[':
		return "a list"
	case bytes.HasPrefix(text, []byte("null")):
		return "null"
	}
	return "other text"
}

func unknownField(parent, name string, known []string) *Error {
	hint := "known are " + strings.Join(known, ", ")
	if near := closest(name, known); near != "" {
		hint = "did you mean " + quote(near) + "?"
	}
	where := "unknown field " + quote(name)
	if parent != "" {
		where += " in " + parent
	}
	field := name
	if parent != "" {
		field = member(parent, name)
	}
	return problem(field, where, hint)
}

func duplicateField(parent, field, name string, firstLine int) *Error {
	where := quote(name)
	if parent != "" {
		where += " in " + parent
	}
	return problem(field, "duplicate field "+where, "it is in line "+strconv.Itoa(firstLine)+" already; keep one")
}
