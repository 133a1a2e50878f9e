// SPDX-License-Identifier: Apache-2.0

package written

import (
	"io"
	"os"
	"strings"
	"syscall"
)

// shorten puts a new file in the record's place, without the places that exist
// no more: what a command left there is gone. Where that is not enough, places
// give way to the directory that holds them, which doubts more and never less.
func shorten(f *os.File, name string) error {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
	if err != nil {
		return err
	}
	r := newRecord()
	r.parse(b)
	r.places = r.existing()
	out := r.encode()
	for len(out) > maxRecord/2 && merge(r) {
		out = r.encode()
	}
	next, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = next.Write(out)
	if end := next.Close(); err == nil {
		err = end
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	return err
}

// existing returns the places that exist, and those where nothing stood when
// they were recorded: a command that still runs may yet make these.
func (r *Record) existing() []string {
	var out []string
	for _, p := range r.places {
		if r.fresh[p] || stands(p) {
			out = append(out, p)
		}
	}
	return out
}

// stands reports whether something stands under a name, or may.
func stands(name string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(name, &st) != syscall.ENOENT
}

// encode writes the record anew. Kept names stay with the places that hold
// them.
func (r *Record) encode() []byte {
	var out []byte
	for name := range r.kept {
		for _, p := range r.places {
			if within(name, p) {
				out = entry(out, kindKept, name)
				break
			}
		}
	}
	for _, p := range r.places {
		kind := byte(kindPlace)
		if r.fresh[p] {
			kind = kindFresh
		}
		out = entry(out, kind, p)
	}
	return out
}

// merge replaces the deepest places by the directories that hold them. It
// reports whether there were any below the root.
func merge(r *Record) bool {
	deepest := 0
	for _, p := range r.places {
		deepest = max(deepest, strings.Count(p, "/"))
	}
	if deepest < 2 {
		return false
	}
	seen := map[string]bool{}
	places := r.places
	r.places = nil
	for _, p := range places {
		if strings.Count(p, "/") == deepest {
			fresh := r.fresh[p]
			p, _ = up(p)
			r.fresh[p] = r.fresh[p] || fresh
		}
		if !seen[p] {
			seen[p] = true
			r.places = append(r.places, p)
		}
	}
	return true
}
