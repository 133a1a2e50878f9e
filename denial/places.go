// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"path"
	"strings"
)

// Places are what a grant has to respect: what stands on the host, and what
// must not be opened along with an object that was wanted.
type Places struct {
	// Look returns what stands at a path, without following a link. Required.
	Look func(name string) Kind
	// Guarded are the places that no suggested grant may cover.
	Guarded []Guarded
}

// Kind is what stands at a path.
type Kind uint8

// The kinds that matter to a grant. The zero value is the careful one: a grant
// of a directory covers the most.
const (
	Directory Kind = iota
	Other
	Missing
)

// Guarded is a place that a grant must not open as a side effect.
type Guarded struct {
	// Path is canonical.
	Path string
	// Why completes "a grant would open ...".
	Why string
	// Below says that only directories above the place are too much, and the
	// place itself is not.
	Below bool
}

// wanted returns the least path that a grant has to name, and what to know of
// it.
func (p *Places) wanted(d *Denial) (name, keep string) {
	name = d.Object
	if removes[d.Call] && p.Look(name) != Missing {
		// The right to remove a name is one of the directory that holds it
		// (landlock(7), LANDLOCK_ACCESS_FS_REMOVE_FILE).
		name = path.Dir(name)
		return name, "a name is removed by a grant of its directory, and that opens all of " + quote(name)
	}
	if p.Look(name) != Missing {
		return name, ""
	}
	for up := path.Dir(name); up != "/" && p.Look(up) == Missing; up = path.Dir(up) {
		name = up
	}
	return name, "nothing is there yet; only that name is opened, not the directory around it"
}

// removes are the calls that take a name away, if there is one.
var removes = map[string]bool{
	"unlink": true, "unlinkat": true, "rmdir": true, "rename": true, "renameat": true, "renameat2": true,
}

// tooMuch says what a grant of name would open besides what was wanted, and
// nothing if it would not. What is no directory covers nothing but itself.
func (p *Places) tooMuch(name string) string {
	if name == "/" {
		return "everything"
	}
	if p.Look(name) == Other {
		return ""
	}
	for _, g := range p.Guarded {
		if covers(name, g.Path) && !(g.Below && name == g.Path) {
			return g.Why
		}
	}
	return ""
}

// covers reports whether a place stands at or below a directory.
func covers(dir, place string) bool {
	return place == dir || strings.HasPrefix(place, strings.TrimSuffix(dir, "/")+"/")
}
