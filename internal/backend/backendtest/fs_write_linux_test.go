// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// change is an operation that changes a file tree. It is tried on the same
// objects in four places: in a write tree it must do what it does without any
// sandbox, which is the fourth; in a read tree and outside it must fail, and
// every object must stay exactly what it was.
type change struct {
	op string // on objects of makeObjects, "%" for their folder
	// read and outside are the errnos there; "" is EACCES.
	read, outside string
	// granted is the outcome in the write tree, where the sandbox costs it;
	// "" is what the kernel says without one.
	granted string
	// below says up to which ABI (exclusive) that cost exists; 0: on all.
	below int
}

func (c change) want(place, control string) string {
	costs := c.granted != "" && (c.below == 0 || landlockABI() < c.below)
	switch {
	case place == "work" && costs:
		return c.granted
	case control == "ENOSYS": // the kernel has no such call
		return control
	case place == "work":
		return control
	case place == "read" && c.read != "":
		return c.read
	case place == "outside" && c.outside != "":
		return c.outside
	}
	return "EACCES"
}

// tryChanges makes every change in every place, in one sandbox, and compares.
func tryChanges(t *testing.T, changes []change) {
	w := newWorld(t)
	w.must(os.Mkdir(w.at("free"), 0o755))
	changes = slices.DeleteFunc(changes, func(c change) bool { return archOnly(c.op) })
	places := []string{"work", "read", "outside"}
	var ops, control [][]string
	before := map[string]string{}
	for i, c := range changes {
		for _, place := range append(places, "free") {
			dir := fmt.Sprintf("%s/%d", w.at(place), i)
			makeObjects(t, dir)
			before[dir] = exact(t, dir)
			if place == "free" {
				control = append(control, words(c.op, dir))
			} else {
				ops = append(ops, words(c.op, dir))
			}
		}
	}
	got, free := w.inside(w.policyFlags(), ops...), w.unconfined(control...)
	for i, c := range changes {
		t.Run(c.op, func(t *testing.T) {
			freeDir := fmt.Sprintf("%s/%d", w.at("free"), i)
			for j, place := range places {
				dir := fmt.Sprintf("%s/%d", w.at(place), i)
				want := c.want(place, free[i].outcome)
				if r := got[i*len(places)+j]; r.outcome != want {
					t.Errorf("in %q: %s (%s), want %s", place, r.outcome, r.detail, want)
				}
				switch {
				case want == "OK":
					if a, b := effects(t, dir), effects(t, freeDir); a != b {
						t.Errorf("in %q it did something else than without a sandbox:\n%s\nwithout:\n%s", place, a, b)
					}
				case exact(t, dir) != before[dir]:
					t.Errorf("in %q something changed:\n%s\nbefore:\n%s", place, exact(t, dir), before[dir])
				}
			}
			if free[i].outcome == "OK" && exact(t, freeDir) == before[freeDir] {
				t.Error("without a sandbox it changes nothing, so it proves nothing")
			}
		})
	}
}

func TestChange(t *testing.T) {
	tryChanges(t, []change{
		{op: "put %f WRONLY new"},
		{op: "put %f RDWR new"},
		{op: "put %f WRONLY|APPEND more"},
		{op: "put %f WRONLY|TRUNC new"},
		{op: "put %l WRONLY through-a-link"},
		{op: "put %new WRONLY|CREAT|EXCL new"},
		{op: "put %d/new RDWR|CREAT|APPEND new"},
		{op: "openat AT '%new RDONLY|CREAT 0600"},
		// Open modes that need no right to write, and still cut a file.
		{op: "openat AT '%f RDONLY|TRUNC", granted: "EACCES", below: abiTruncate},
		{op: "openat AT '%f MODE3|TRUNC", granted: "EACCES", below: abiTruncate},
		{op: "truncate '%f 3"},
		{op: "truncate '%l 3"},
		{op: "ftruncate +%f 3"},
		{op: "fallocate +%f 0 0 4096"},
		{op: "map %f"},
		{op: "overopen %f WRONLY|TRUNC", granted: "ENOSYS", below: abiTruncate, read: belowTruncate("ENOSYS"), outside: belowTruncate("ENOSYS")},
		{op: "overopen %new WRONLY|CREAT", granted: "ENOSYS", below: abiTruncate, read: belowTruncate("ENOSYS"), outside: belowTruncate("ENOSYS")},
		{op: "nameless %d RDWR %d/new"},
		{op: "mkdirat AT '%new 0755"},
		{op: "mkdirat AT '%d/new 0700"},
		{op: "mknodat AT '%new FIFO|0644 0"},
		{op: "mknodat AT '%new SOCK|0644 0"},
		{op: "mknodat AT '%new REG|0644 0"},
		{op: "mknodat AT '%new CHR|0644 0x103"},
		{op: "mknodat AT '%new BLK|0644 0x103"},
		{op: "symlinkat 'anywhere AT '%new"},
		{op: "linkat AT '%f AT '%new 0"},
		{op: "linkat AT '%l AT '%new 0"},
		{op: "linkat AT '%l AT '%new FOLLOWLINK"},
		{op: "unlinkat AT '%f 0"},
		{op: "unlinkat AT '%l 0"},
		{op: "unlinkat AT '%p 0"},
		{op: "unlinkat AT '%e REMOVEDIR"},
		{op: "renameat AT '%f AT '%new"},
		{op: "renameat AT '%f AT '%x"},
		{op: "renameat AT '%l AT '%new"},
		{op: "renameat AT '%d AT '%new"},
		{op: "renameat AT '%d AT '%e"},
		{op: "renameat2 AT '%f AT '%new NOREPLACE"},
		{op: "renameat2 AT '%f AT '%x EXCHANGE"},
		{op: "renameat2 AT '%f AT '%e EXCHANGE"},
		{op: "bind %new"},
		// The oldest forms.
		{op: "open '%new WRONLY|CREAT 0644"},
		{op: "creat '%f 0644"},
		{op: "creat '%new 0600"},
		{op: "mkdir '%new 0755"},
		{op: "mknod '%new FIFO|0600 0"},
		{op: "symlink 'anywhere '%new"},
		{op: "link '%f '%new"},
		{op: "unlink '%f"},
		{op: "rmdir '%e"},
		{op: "rename '%f '%new"},
		// From one folder to another.
		{op: "renameat AT '%f AT '%d/new", granted: "EXDEV", below: abiRefer, read: belowRefer("EXDEV"), outside: belowRefer("EXDEV")},
		{op: "renameat AT '%d/in AT '%new", granted: "EXDEV", below: abiRefer, read: belowRefer("EXDEV"), outside: belowRefer("EXDEV")},
		{op: "renameat AT '%d AT '%e/new", granted: "EXDEV", below: abiRefer, read: belowRefer("EXDEV"), outside: belowRefer("EXDEV")},
		{op: "renameat2 AT '%d/in AT '%f EXCHANGE", granted: "EXDEV", below: abiRefer, read: belowRefer("EXDEV"), outside: belowRefer("EXDEV")},
		{op: "linkat AT '%f AT '%d/new 0", granted: "EXDEV", below: abiRefer, read: belowRefer("EXDEV"), outside: belowRefer("EXDEV")},
	})
}

// belowRefer is an errno that Landlock before ABI 2 gives without looking at
// the rules; "" on later ones.
func belowRefer(errno string) string {
	if landlockABI() < abiRefer {
		return errno
	}
	return ""
}

// belowTruncate is one that the filter gives where Landlock has no right for
// truncation.
func belowTruncate(errno string) string {
	if landlockABI() < abiTruncate {
		return errno
	}
	return ""
}
