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
	r := &Record{kept: map[string]bool{}}
	r.parse(b)
	r.places = existing(r.places)
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

func existing(places []string) []string {
	var out []string
	for _, p := range places {
		var st syscall.Stat_t
		if err := syscall.Lstat(p, &st); err != syscall.ENOENT {
			out = append(out, p)
		}
	}
	return out
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
		out = entry(out, kindPlace, p)
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
			p, _ = up(p)
		}
		if !seen[p] {
			seen[p] = true
			r.places = append(r.places, p)
		}
	}
	return true
}
