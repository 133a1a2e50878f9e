// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/ambit-sandbox/ambit/policy"
)

// glob matches names component by component, without looking at any twice: a
// state is the set of parts that may come next, one bit each.
type glob struct {
	parts []matcher
	// deep has the bits of the "**" parts, end the one behind the last part.
	deep, end states
	// foldable: what matches does so folded too.
	foldable bool
}

// states is a set of positions in a glob. The empty set can't match any more.
type states uint64

func newGlob(parts []policy.Part) *glob {
	g := &glob{parts: make([]matcher, len(parts)), end: 1 << len(parts), foldable: true}
	for i, p := range parts {
		for _, piece := range p {
			g.foldable = g.foldable && foldable(piece)
		}
		if p.Deep() {
			g.deep |= 1 << i
			continue
		}
		g.parts[i] = newMatcher(p)
	}
	return g
}

// foldable reports whether folding a name leaves what a piece stands for: it
// may make two characters of one, or none, and half a character can't be folded.
func foldable(p policy.Piece) bool {
	return p.Kind != policy.One && isASCII(p.Text) && strings.TrimRight(p.Text, ". ") == p.Text
}

func (g *glob) start() states { return g.closure(1) }

// closure lets each "**" stand for no component at all. No two stand side by
// side.
func (g *glob) closure(s states) states { return s | s&g.deep<<1 }

// step is the state behind one more component; folded has the component, and
// compares, as [Fold] says.
func (g *glob) step(s states, name string, c caseRule) states {
	next := s & g.deep
	for rest := s &^ g.deep &^ g.end; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(uint64(rest))
		if g.parts[i].match(name, c) {
			next |= 1 << (i + 1)
		}
	}
	return g.closure(next)
}

// caseRule says whether the case of letters counts.
type caseRule uint8

const (
	exact caseRule = iota
	// folded: names are compared as [Fold] says, and given so.
	folded
)

// matcher matches one component.
type matcher [2]pieces // by caseRule

// pieces are a component's, in order: literal text, or a wildcard where the
// text is empty.
type pieces []policy.Piece

func newMatcher(p policy.Part) matcher {
	m := matcher{exact: pieces(p), folded: make(pieces, len(p))}
	for i, piece := range p {
		m[folded][i] = policy.Piece{Kind: piece.Kind, Text: foldText(piece.Text)}
	}
	if last := len(m[folded]) - 1; last >= 0 && m[folded][last].Kind == policy.Literally {
		m[folded][last].Text = Fold(p[last].Text)
	}
	return m
}

// foldText folds what is not the end of a name.
func foldText(s string) string {
	return strings.TrimSuffix(Fold(s+"x"), "x")
}

// match compares from left to right; where that fails, the last "*" takes one
// character more (no earlier one has to).
func (m *matcher) match(name string, c caseRule) bool {
	p := m[c]
	at, i := 0, 0
	star, from := -1, 0
	for {
		switch {
		case i < len(p) && p[i].Kind == policy.Many:
			star, from = i, at
			i++
			continue
		case i < len(p) && p[i].Kind == policy.One && at < len(name):
			at += character(name[at:])
			i++
			continue
		case i < len(p) && p[i].Kind == policy.Literally && strings.HasPrefix(name[at:], p[i].Text):
			at += len(p[i].Text)
			i++
			continue
		case i == len(p) && at == len(name):
			return true
		case star < 0 || from == len(name):
			return false
		}
		from += character(name[from:])
		at, i = from, star+1
	}
}

// character is the length of the first one: of a byte that starts none it is
// one byte.
func character(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}
