// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"slices"
	"strings"
)

// Words of a message by which it says what was wanted, in lower case. Those of
// taking a name away come before those of writing, and these before reading.
var (
	removing = words("remove removing unlink rmdir rename renaming move moving")
	writing  = words("create creating touch write writing overwrite mkdir mkdtemp append save saving output lock tee")
	reading  = words("read reading access stat scandir load exec execute executing")
)

func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// wanted says what a message wanted to do, and by which call if that matters
// for a grant. The names in it say nothing of that.
func wanted(lower string, names []string) (Access, string) {
	for _, n := range names {
		if strings.Contains(n, "/") {
			lower = strings.ReplaceAll(lower, lowerASCII(n), " ")
		}
	}
	said := strings.FieldsFunc(lower, func(r rune) bool { return r < 'a' || r > 'z' })
	switch {
	case oneOf(said, removing):
		return Write, "unlink"
	case oneOf(said, writing):
		return Write, ""
	case oneOf(said, reading):
		return Read, ""
	}
	return "", ""
}

func oneOf(said []string, set map[string]bool) bool {
	return slices.ContainsFunc(said, func(w string) bool { return set[w] })
}
