// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"unicode"
)

// Fold returns a name in the form that it shares with all names which some file
// system takes for the same: those that differ in case, in characters that can't
// be seen (utf8_casefold in fs/unicode, as ext4, f2fs and tmpfs use it; HFS+), in
// dots and blanks at the end (vfat_striptail_len in fs/fat/namei_vfat.c; Windows).
// Letters that are composed and those that are not stay different.
func Fold(name string) string {
	bare := strings.TrimRight(name, ". ")
	if bare == "" {
		bare = name
	}
	if isASCII(bare) {
		return strings.ToLower(bare)
	}
	return strings.Map(foldRune, ligatures.Replace(bare))
}

// FoldPath folds every component of a canonical path.
func FoldPath(path string) string {
	if isPlain(path) {
		return strings.ToLower(path)
	}
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = Fold(parts[i])
	}
	return strings.Join(parts, "/")
}

// OtherCase is a name with the case of every letter changed.
func OtherCase(name string) string {
	return strings.Map(func(r rune) rune {
		if up := unicode.ToUpper(r); up != r {
			return up
		}
		return unicode.ToLower(r)
	}, name)
}

// Strange reports whether a name may be one of those that file systems make up
// or compose: a short one (GIT~1), or one with letters beyond ASCII.
func Strange(name string) bool { return !isASCII(name) || Short(name) }

// Short reports whether a name may be one that a file system made up because
// the real one is too long for old programs, or begins with a dot (GIT~1).
func Short(name string) bool {
	for at, rest, ok := strings.Cut(name, "~"); ok; at, rest, ok = strings.Cut(rest, "~") {
		if at != "" && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return true
		}
	}
	return false
}

// ligatures become several letters where case does not count (Unicode's
// CaseFolding.txt, status F).
var ligatures = strings.NewReplacer("\u00df", "ss", "\u1e9e", "ss", "\ufb00", "ff", "\ufb01", "fi", "\ufb02", "fl",
	"\ufb03", "ffi", "\ufb04", "ffl", "\ufb05", "st", "\ufb06", "st")

// foldRune returns one character for all that differ in case only, -1 for those
// that can't be seen.
func foldRune(r rune) rune {
	if r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return unicode.ToLower(least)
}

// isPlain reports whether folding a path changes no more than the case.
func isPlain(path string) bool {
	last := byte('/')
	for i := range len(path) {
		if c := path[i]; c >= 0x80 || c == '/' && (last == '.' || last == ' ') {
			return false
		}
		last = path[i]
	}
	return last != '.' && last != ' '
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
