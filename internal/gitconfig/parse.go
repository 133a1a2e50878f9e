// SPDX-License-Identifier: Apache-2.0

package gitconfig

import (
	"fmt"
	"strings"
)

// Entry is one variable of a configuration file.
type Entry struct {
	// Name is the section, the subsection if there is one, and the key, with
	// dots between, as git config --list shows it. All but the subsection is
	// in lower case.
	Name string
	// Value is without quotes and escapes. NoValue says that the variable
	// stands alone, without "=", which Git takes for true.
	Value   string
	NoValue bool
}

// Parse reads a configuration file as git_parse_source in Git's config.c does.
// Git reads no file that has a fault: the error names its line, and the
// entries are those before it.
func Parse(text []byte) ([]Entry, error) {
	p := parser{rest: strings.TrimPrefix(string(text), "\ufeff"), line: 1}
	var entries []Entry
	for {
		e, more := p.entry()
		if p.fault {
			return entries, fmt.Errorf("cannot read line %d", p.line)
		}
		if !more {
			return entries, nil
		}
		entries = append(entries, e)
	}
}

// Key returns the name without the subsection.
func (e Entry) Key() string {
	first, last := strings.IndexByte(e.Name, '.'), strings.LastIndexByte(e.Name, '.')
	if first == last {
		return e.Name
	}
	return e.Name[:first] + e.Name[last:]
}

// end stands for the end of the text.
const end = -1

// parser reads a text byte by byte.
type parser struct {
	rest   string
	line   int
	prefix string // of the names: the section and the subsection, with dots
	fault  bool
}

// peek returns the next byte. The two of a line end in DOS's style are one.
func (p *parser) peek() int {
	if p.rest == "" {
		return end
	}
	if strings.HasPrefix(p.rest, "\r\n") {
		return '\n'
	}
	return int(p.rest[0])
}

func (p *parser) next() int {
	c := p.peek()
	switch {
	case c == end:
		return end
	case c == '\n':
		p.line++
		p.rest = p.rest[strings.IndexByte(p.rest, '\n')+1:]
	default:
		p.rest = p.rest[1:]
	}
	return c
}

// fail marks the text as faulty.
func (p *parser) fail() { p.fault = true }

// skipLine goes to the end of a line, as behind a comment.
func (p *parser) skipLine() {
	for c := p.peek(); c != end && c != '\n'; c = p.peek() {
		p.next()
	}
}

// entry reads on to the next variable. more is false at the end and at a fault.
func (p *parser) entry() (e Entry, more bool) {
	for !p.fault {
		switch c := p.peek(); {
		case c == end:
			return e, false
		case isSpace(c):
			p.next()
		case c == '#' || c == ';':
			p.skipLine()
		case c == '[':
			p.header()
		case isLetter(c):
			return p.variable()
		default:
			p.fail()
		}
	}
	return e, false
}

// variable reads a name and its value.
func (p *parser) variable() (e Entry, more bool) {
	e = Entry{Name: p.prefix + p.word(isKey)}
	for c := p.peek(); c == ' ' || c == '\t'; c = p.peek() {
		p.next()
	}
	switch p.next() {
	case '=':
		e.Value, _, _ = strings.Cut(p.value(), "\x00") // for Git it ends there
	case '\n', end:
		e.NoValue = true
	default:
		p.fail()
	}
	return e, !p.fault
}

// word reads while the bytes belong to it, in lower case.
func (p *parser) word(belongs func(int) bool) string {
	var b strings.Builder
	for belongs(p.peek()) {
		b.WriteByte(byte(p.next()))
	}
	return strings.ToLower(b.String())
}

func isSpace(c int) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isLetter(c int) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isKey(c int) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

func isSection(c int) bool { return isKey(c) || c == '.' }
