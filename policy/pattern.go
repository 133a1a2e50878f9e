// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strconv"
	"strings"
)

// Pattern is a block entry in which "*" or "?" stands unescaped: it means every
// name below Base that Parts match, now and later, and all that is below one.
type Pattern struct {
	// Base is the longest part in front that holds no wildcard, unescaped, and
	// Rest what comes after it, as it is written.
	Base, Rest string
	// Parts match one component of the rest each, but for a Deep one.
	Parts []Part
}

// Part is one component of a pattern: its pieces, in order.
type Part []Piece

// Piece is a run of characters, or what stands for some.
type Piece struct {
	Kind PieceKind
	// Text is what a piece stands for literally.
	Text string
}

// PieceKind says what a piece of a pattern stands for.
type PieceKind uint8

const (
	// Literally: the text stands for itself.
	Literally PieceKind = iota
	// One, "?", stands for one character.
	One
	// Many, "*", stands for any run of characters in a component, a leading
	// dot and none at all included.
	Many
	// Deep, "**" as a whole component, stands for any number of components,
	// none included.
	Deep
)

// maxParts bounds the components with which a pattern's states fit a word.
const maxParts = 60

// hasWildcard reports whether a path field is a pattern.
func hasWildcard(s string) bool { return strings.ContainsAny(withoutStar.Replace(s), "*?") }

// ParsePattern takes a checked pattern apart: absolute, without variables.
func ParsePattern(text string) Pattern {
	all := strings.Split(strings.TrimPrefix(text, "/"), "/")
	first := slices.IndexFunc(all, hasWildcard)
	if first < 0 {
		return Pattern{Base: fromLiteral.Replace(text)}
	}
	p := Pattern{Base: "/" + fromLiteral.Replace(strings.Join(all[:first], "/")), Rest: strings.Join(all[first:], "/")}
	for _, component := range all[first:] {
		part := parsePart(component)
		// "**/**" says no more than "**".
		if n := len(p.Parts); n == 0 || !part.Deep() || !p.Parts[n-1].Deep() {
			p.Parts = append(p.Parts, part)
		}
	}
	return p
}

// Deep reports whether a part is "**".
func (p Part) Deep() bool { return len(p) == 1 && p[0].Kind == Deep }

func parsePart(s string) Part {
	if s == "**" {
		return Part{{Kind: Deep}}
	}
	var part Part
	for s != "" {
		switch {
		case s[0] == '*':
			part, s = append(part, Piece{Kind: Many}), s[1:]
		case s[0] == '?':
			part, s = append(part, Piece{Kind: One}), s[1:]
		default:
			end := wildcardIn(s)
			part = append(part, Piece{Text: fromLiteral.Replace(s[:end])})
			s = s[end:]
		}
	}
	return part
}

// wildcardIn returns where the first wildcard stands.
func wildcardIn(s string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "$*"), strings.HasPrefix(s[i:], "$?"):
			i++
		case s[i] == '*', s[i] == '?':
			return i
		}
	}
	return len(s)
}

// checkBlock judges one entry of a block list, which may be a pattern.
func checkBlock(field, s string) *Error {
	if e := checkForm(field, s); e != nil || !hasWildcard(s) {
		return e
	}
	_, rest, _ := splitPath(s)
	parts := strings.Split(strings.TrimPrefix(clean(rest), "/"), "/")
	parts = parts[slices.IndexFunc(parts, hasWildcard):]
	says := field + ": " + quote(s)
	for _, part := range parts {
		bare := withoutStar.Replace(part)
		switch {
		case part == "..":
			return problem(field, says+` holds ".." behind a wildcard`, "write the pattern without it")
		case part != "**" && strings.Contains(bare, "**"):
			return problem(field, says+" holds ** as a part of a name", "write * there; ** stands for whole folders: a/**/b")
		}
	}
	switch {
	case parts[len(parts)-1] == "**":
		return problem(field, says+" ends in **", "leave that out: a block holds for everything below what it names; write **/* for all that is in a folder, and not the folder itself")
	case len(parts) > maxParts:
		return problem(field, says+" has too many components", "use at most "+strconv.Itoa(maxParts)+" from the first wildcard on")
	}
	return nil
}
