// SPDX-License-Identifier: Apache-2.0

package gitconfig

import "strings"

// header reads a section's name in brackets. "[a.b]" is an old way to write
// [a "b"].
func (p *parser) header() {
	p.next()
	p.prefix = p.word(isSection) + "."
	if isSpace(p.peek()) {
		p.prefix += p.quoted() + "."
	}
	if p.next() != ']' || p.prefix == "." {
		p.fail()
	}
}

// quoted reads the name of a subsection (get_extended_base_var in config.c).
func (p *parser) quoted() string {
	for c := p.peek(); isSpace(c) && c != '\n'; c = p.peek() {
		p.next()
	}
	if p.next() != '"' {
		p.fail()
	}
	var b strings.Builder
	for !p.fault {
		c := p.next()
		switch c {
		case '"':
			return b.String()
		case '\\':
			c = p.next()
		}
		if c == '\n' || c == end {
			p.fail()
			break
		}
		b.WriteByte(byte(c))
	}
	return ""
}

// value reads what stands behind "=" (parse_value in config.c).
func (p *parser) value() string {
	var (
		b      strings.Builder
		blanks string // not yet part of the value: those at its end are dropped
		quoted bool
	)
	for {
		c := p.next()
		switch {
		case c == end || c == '\n':
			if quoted {
				p.fail()
			}
			return b.String()
		case !quoted && isSpace(c):
			if b.Len() > 0 {
				blanks += string(rune(c))
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.skipLine()
			p.next()
			return b.String()
		}
		b.WriteString(blanks)
		blanks = ""
		switch c {
		case '"':
			quoted = !quoted
		case '\\':
			p.escape(&b)
		default:
			b.WriteByte(byte(c))
		}
		if p.fault {
			return ""
		}
	}
}

// escape reads what follows a backslash. A line end continues the value.
func (p *parser) escape(b *strings.Builder) {
	switch c := p.next(); c {
	case '\n', end:
	case 't':
		b.WriteByte('\t')
	case 'b':
		b.WriteByte('\b')
	case 'n':
		b.WriteByte('\n')
	case '\\', '"':
		b.WriteByte(byte(c))
	default:
		p.fail()
	}
}
