// SPDX-License-Identifier: Apache-2.0

package denial

import "strings"

// quotes are the pairs in which programs quote names: GNU's of UTF-8 locales
// and of the C locale, and those of nearly all others.
var quotes = []struct{ open, shut string }{{"‘", "’"}, {"'", "'"}, {`"`, `"`}, {"`", "'"}}

// quoted lists what a line has in quotes, but for the refusal itself. A quote
// within a word, as in "can't", opens none.
func quoted(line string) []string {
	var names []string
	for at := 0; at < len(line) && len(names) < mostNames; {
		name, n := quotedAt(line, at)
		if n == 0 {
			at++
			continue
		}
		if start, _ := refusal(lowerASCII(name)); start < 0 {
			names = append(names, name)
		}
		at += n
	}
	return names
}

// quotedAt returns what is in quotes from a place on, and its length with
// them; 0 if no quote opens there.
func quotedAt(line string, at int) (string, int) {
	if at > 0 && isWord(line[at-1]) {
		return "", 0
	}
	for _, q := range quotes {
		rest, ok := strings.CutPrefix(line[at:], q.open)
		if !ok {
			continue
		}
		for i := 0; i < min(len(rest), longestName); i++ {
			end := i + len(q.shut)
			if strings.HasPrefix(rest[i:], q.shut) && (end == len(rest) || !isWord(rest[end])) {
				return rest[:i], len(q.open) + end
			}
		}
	}
	return "", 0
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// before lists the names that may be meant by what stands before the refusal:
// "PROGRAM: NAME: ", "PROGRAM: NAME: Cannot open: ", "open NAME: ", "NAME (".
// Of several parts the first one is the program.
func before(text string) []string {
	parts := strings.Split(strings.TrimRight(text, " (:[,"), ": ")
	if len(parts) > 1 && !strings.Contains(parts[0], " ") {
		parts = parts[1:]
	}
	var names []string
	for i := len(parts) - 1; i >= 0 && len(names) < mostNames; i-- {
		names = append(names, part(strings.TrimSpace(parts[i]))...)
	}
	return names
}

// part lists the names in one part of a message: the absolute one with which
// it ends, or else all of it, and its last word.
func part(s string) []string {
	if rooted(s) {
		return []string{s}
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i-1] == ' ' && rooted(s[i:]):
			return []string{s[i:]}
		case s[i-1] == '(' && rooted(s[i:]):
			name, _, _ := strings.Cut(s[i:], ")")
			return []string{name}
		}
	}
	return []string{s, s[strings.LastIndexByte(s, ' ')+1:]}
}

func rooted(s string) bool { return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/") }

// after lists the name that stands behind the refusal: ": NAME".
func after(text string) []string {
	name, ok := strings.CutPrefix(text, ": ")
	if !ok {
		return nil
	}
	name, _, _ = strings.Cut(name, " (")
	return []string{name}
}

// ruby lists the name behind a refusal as Ruby writes it:
// " @ rb_sysopen - NAME (Errno::EACCES)".
func ruby(text string) []string {
	_, name, ok := strings.Cut(text, " - ")
	if !ok || !strings.HasPrefix(text, " @ ") {
		return nil
	}
	name, _, _ = strings.Cut(name, " (Errno::")
	return []string{name}
}
