// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"strings"
	"testing"
)

// TestMove: renaming and linking between trees. Within one write tree
// everything works; out of a tree nothing goes where it could be reached with
// more than it had (Documentation/userspace-api/landlock.rst,
// LANDLOCK_ACCESS_FS_REFER).
func TestMove(t *testing.T) {
	w := newWorld(t)
	w.must(os.Mkdir(w.at("work2"), 0o755))
	// Each move has its own objects, in a folder of its number.
	moves := []struct {
		op, want string
		// before ABI 2 nothing moves between folders.
		old string
	}{
		{"rename work/N/f work/N/d/to", "OK", "EXDEV"},
		{"rename work/N/d/in work/N/to", "OK", "EXDEV"},
		{"rename work/N/d work/N/e/to", "OK", "EXDEV"},
		{"link work/N/f work/N/d/to", "OK", "EXDEV"},
		{"link work/N/f work/N/to", "OK", "OK"},
		{"rename work/N/f work2/N/to", "OK", "EXDEV"},
		{"rename work2/N/d work/N/to", "OK", "EXDEV"},
		{"link work/N/f work2/N/to", "OK", "EXDEV"},
		{"exchange work/N/f work2/N/x", "OK", "EXDEV"},
		// Into a read tree, or out of one.
		{"rename work/N/f read/N/to", "EACCES", "EXDEV"},
		{"rename work/N/d read/N/to", "EACCES", "EXDEV"},
		{"rename read/N/f work/N/to", "EACCES", "EXDEV"},
		{"rename read/N/d work/N/to", "EACCES", "EXDEV"},
		{"exchange work/N/f read/N/f", "EACCES", "EXDEV"},
		{"link work/N/f read/N/to", "EACCES", "EXDEV"},
		// A link in a write tree would make the file writable.
		{"link read/N/f work/N/to", "EXDEV", "EXDEV"},
		// From outside, or to there.
		{"rename work/N/f outside/N/to", "EACCES", "EXDEV"},
		{"rename work/N/d outside/N/to", "EACCES", "EXDEV"},
		{"rename outside/N/f work/N/to", "EACCES", "EXDEV"},
		{"rename outside/N/d work/N/to", "EACCES", "EXDEV"},
		{"exchange outside/N/f work/N/f", "EACCES", "EXDEV"},
		{"link work/N/f outside/N/to", "EACCES", "EXDEV"},
		{"link outside/N/f work/N/to", "EXDEV", "EXDEV"},
		{"link outside/N/f read/N/to", "EACCES", "EXDEV"},
	}
	var ops [][]string
	before := map[string]string{}
	for i, m := range moves {
		n := string(rune('A' + i))
		for _, place := range []string{"work", "work2", "read", "outside"} {
			makeObjects(t, w.at(place+"/"+n))
			before[place+n] = exact(t, w.at(place+"/"+n))
		}
		f := strings.Fields(strings.ReplaceAll(m.op, "/N/", "/"+n+"/"))
		from, to := "'"+w.at(f[1]), "'"+w.at(f[2])
		switch f[0] {
		case "rename":
			ops = append(ops, []string{"renameat", "AT", from, "AT", to})
		case "exchange":
			ops = append(ops, []string{"renameat2", "AT", from, "AT", to, "EXCHANGE"})
		case "link":
			ops = append(ops, []string{"linkat", "AT", from, "AT", to, "0"})
		}
	}
	for i, r := range w.inside(w.policyFlags("--write", w.at("work2")), ops...) {
		t.Run(moves[i].op, func(t *testing.T) {
			n, want := string(rune('A'+i)), moves[i].want
			if landlockABI() < abiRefer {
				want = moves[i].old
			}
			if r.outcome != want {
				t.Errorf("%s (%s), want %s", r.outcome, r.detail, want)
			}
			changed := false
			for _, place := range []string{"work", "work2", "read", "outside"} {
				now := exact(t, w.at(place+"/"+n))
				changed = changed || now != before[place+n]
				if want != "OK" && now != before[place+n] {
					t.Errorf("something changed in %q:\n%s\nbefore:\n%s", place, now, before[place+n])
				}
			}
			if want == "OK" && !changed {
				t.Error("nothing changed")
			}
		})
	}
}

// TestLinked: a hard link that was made outside carries nothing. The file is
// what the tree says in which it is opened, under each of its names.
func TestLinked(t *testing.T) {
	w := newWorld(t)
	w.write("outside/secret", "content")
	w.must(os.Link(w.at("outside/secret"), w.at("read/name")))
	w.write("work/own", "content")
	w.must(os.Link(w.at("work/own"), w.at("outside/name")))
	w.tryAll(w.policyFlags(), []attempt{
		{"get %outside/secret", "EACCES", ""},
		{"get %read/name", "OK", "content"}, // the caller's own doing
		{"put %read/name WRONLY x", "EACCES", ""},
		{"put %outside/name WRONLY x", "EACCES", ""},
		{"get %work/own", "OK", "content"},
	})
}

// TestMovedTree: a grant stays with the tree when the tree is renamed from
// outside while the command runs, and its old name means what is there then.
func TestMovedTree(t *testing.T) {
	w := newWorld(t)
	w.write("read/f", "granted")
	w.must(os.Mkdir(w.at("outside/other"), 0o755))
	w.write("outside/other/f", "not granted")
	p := w.converse(w.policyFlags())
	p.expect("get %read/f", "OK", "granted")
	w.must(os.Rename(w.at("read"), w.at("moved")))
	w.must(os.Rename(w.at("outside/other"), w.at("read")))
	p.expect("get %moved/f", "OK", "granted")
	p.expect("put %moved/f WRONLY x", "EACCES", "")
	p.expect("get %read/f", "EACCES", "")
}
