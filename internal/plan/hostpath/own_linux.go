// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"github.com/ambit-sandbox/ambit/internal/written"
)

// Here returns a resolver that knows the record of the user whose environment
// getenv reads.
func Here(getenv func(string) string) *Resolver {
	return After(written.Load(written.Dir(getenv("HOME"), getenv("XDG_STATE_HOME"))))
}

// CheckOwn refuses a name of a file or directory of Ambit's own (a token, a
// configuration, the journal) that a command of an earlier run could have
// changed, or have led elsewhere. What may not exist yet is judged by the
// directory that it would be made in. The error is a *[LinkError] or a
// *[PlaceError]; a name that can't be looked up is none: opening it will fail.
//
// The name may be opened by its text afterwards. Nothing on the way to it lies
// where a command could write.
func (r *Resolver) CheckOwn(name string) error {
	obj, err := r.Resolve(name)
	if err != nil || r.earlier == nil {
		return nil
	}
	for _, l := range obj.Links {
		if l.Doubtful {
			return &LinkError{Name: name, Link: l.Path}
		}
	}
	if place, yes := r.earlier.Covers(obj.Path); yes {
		return &PlaceError{Name: name, Place: place}
	}
	return nil
}

// CheckReached refuses a current directory that a shell has come to through a
// doubtful link, as its PWD says (environ(7)). One that commands could write
// anyway is no reason to refuse. A PWD that is not of this directory says
// nothing.
func (r *Resolver) CheckReached(pwd, cwd string) error {
	if pwd == cwd || pwd == "" || pwd[0] != '/' || r.earlier == nil {
		return nil
	}
	obj, err := r.Resolve(pwd)
	if err != nil || obj.Path != cwd {
		return nil
	}
	for _, l := range obj.Links {
		if _, written := r.earlier.Covers(cwd); l.Doubtful && !written {
			return &LinkError{Name: "the current directory, which the shell calls " + pwd, Link: l.Path}
		}
	}
	return nil
}
