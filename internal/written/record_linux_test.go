// SPDX-License-Identifier: Apache-2.0

package written

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func nothing(string) bool { return false }

// TestRecord: what was recorded is known to the next run, kept names as long
// as no run could write them.
func TestRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state/ambit")
	add := func(writes func(string) bool, kept []string, places ...string) {
		t.Helper()
		if err := Load(dir).Add(places, kept, writes); err != nil {
			t.Fatal(err)
		}
	}
	covers := func(want bool, names ...string) {
		t.Helper()
		for _, name := range names {
			if _, got := Load(dir).Covers(name); got != want {
				t.Errorf("%s: on record %v, want %v", name, got, want)
			}
		}
	}
	covers(false, "/p", "/p/x", "/")
	add(nothing, []string{"/p/ambit.json", "/q/other"}, "/p", "/odd\nname")
	covers(true, "/p", "/p/x/y", "/odd\nname/x", "/p/ambit.jsonx")
	covers(false, "/", "/pq", "/q/other", "/p/ambit.json", "/p/ambit.json/x")
	// A place that is on record already gets no more kept names.
	add(nothing, []string{"/p/late"}, "/p", "/p/sub")
	covers(true, "/p/late", "/p/sub")
	add(func(name string) bool { return name == "/p/ambit.json" }, nil, "/p")
	covers(true, "/p/ambit.json")
	add(nothing, []string{"/p/ambit.json"}, "/p")
	covers(true, "/p/ambit.json")
	// Nor does what is added around it make a name of an older place kept.
	add(nothing, []string{"/p/late"}, "/")
	covers(true, "/p/late", "/anything")
	before, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	add(nothing, nil, "/p/again", "/odd\nname")
	if after, _ := os.ReadFile(filepath.Join(dir, fileName)); string(after) != string(before) {
		t.Errorf("what is on record was recorded again: %q, then %q", before, after)
	}
}

// TestRecordUnknown: without a record that can be trusted, links of the user
// are doubted, and those of the system's directories are not.
func TestRecordUnknown(t *testing.T) {
	me := uint32(os.Geteuid())
	broken := t.TempDir()
	if err := os.Symlink("/dev/null", filepath.Join(broken, fileName)); err != nil {
		t.Fatal(err)
	}
	open := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(open, fileName), []byte("+/p\x00"), 0o600), os.Chmod(filepath.Join(open, fileName), 0o622)); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"no home": Dir("", ""), "no place": "/proc/none", "a link": broken, "open to others": open} {
		r := Load(dir)
		if r.Known() || !r.Doubts("/home/u/link", me) || r.Doubts("/home/u/link", me+1) || r.Doubts("/usr/lib/link", me) || r.Doubts("/bin", me) {
			t.Errorf("%s: known %v", name, r.Known())
		}
		if err := r.Add([]string{"/p"}, nil, nothing); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var none *Record
	if none.Doubts("/home/u/link", me) {
		t.Error("no record at all doubts")
	}
}

// TestRecordFull: a place that can't be recorded is an error.
func TestRecordFull(t *testing.T) {
	dir := t.TempDir()
	r := Load(dir)
	if !r.Known() {
		t.Fatal("no record")
	}
	if err := os.Symlink("/dev/full", filepath.Join(dir, fileName)); err != nil {
		t.Fatal(err)
	}
	if err := r.Add([]string{"/p"}, nil, nothing); !errors.Is(err, syscall.ELOOP) || !strings.Contains(err.Error(), "cannot record") {
		t.Errorf("recorded: %v", err)
	}
}

// TestRecordTogether: runs that start at once lose nothing of each other's,
// while the record is made shorter too.
func TestRecordTogether(t *testing.T) {
	dir, gone := t.TempDir(), strings.Repeat("/gone", 700)
	var fill []byte
	for i := range 80 {
		fill = fmt.Appendf(fill, "+%s/%d\x00", gone, i)
	}
	if err := os.WriteFile(filepath.Join(dir, fileName), fill, 0o600); err != nil || len(fill) <= maxRecord {
		t.Fatal(err, len(fill))
	}
	var all sync.WaitGroup
	var want []string
	for i := range 8 {
		place := t.TempDir()
		want = append(want, place)
		all.Go(func() {
			if err := Load(dir).Add([]string{place}, []string{fmt.Sprintf("%s/kept%d", place, i)}, nothing); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	r := Load(dir)
	for i, place := range want {
		if _, yes := r.Covers(place + "/x"); !yes {
			t.Errorf("%s was lost", place)
		}
		if _, yes := r.Covers(fmt.Sprintf("%s/kept%d", place, i)); yes {
			t.Errorf("what %s keeps was lost", place)
		}
	}
	if len(r.places) != len(want) {
		t.Errorf("%d places, want the %d that exist", len(r.places), len(want))
	}
}

// TestRecordMerged: where all places exist, those deepest down give way to the
// directories that hold them.
func TestRecordMerged(t *testing.T) {
	dir, tree := t.TempDir(), t.TempDir()
	var fill []byte
	long := tree + "/" + strings.Repeat("x", 200)
	for i := range 1400 {
		place := fmt.Sprintf("%s%d", long, i)
		if err := os.Mkdir(place, 0o755); err != nil {
			t.Fatal(err)
		}
		fill = fmt.Appendf(fill, "+%s\x00", place)
	}
	if err := os.WriteFile(filepath.Join(dir, fileName), fill, 0o600); err != nil || len(fill) <= maxRecord {
		t.Fatal(err, len(fill))
	}
	if err := Load(dir).Add([]string{"/new"}, nil, nothing); err != nil {
		t.Fatal(err)
	}
	if r := Load(dir); !slices.Equal(r.places, []string{tree, "/new"}) {
		t.Errorf("%d places, first %q", len(r.places), r.places[0])
	}
}

// TestRecordNew: a place where nothing stood stays on record, since a command
// that still runs may make it; one that was there and is gone does not.
func TestRecordNew(t *testing.T) {
	dir, tree := t.TempDir(), t.TempDir()
	fresh, old := filepath.Join(tree, "none/fresh"), filepath.Join(tree, "old")
	if err := os.Mkdir(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Load(dir).Add([]string{fresh, old}, nil, nothing); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what kind of place it is stays known
		f, err := os.Open(filepath.Join(dir, fileName))
		if err != nil {
			t.Fatal(err)
		}
		err = shorten(f, f.Name())
		_ = f.Close()
		if r := Load(dir); err != nil || !slices.Equal(r.places, []string{fresh}) {
			t.Errorf("on record: %q (%v)", r.places, err)
		}
	}
	if !Load(dir).Doubts(fresh, uint32(os.Geteuid())) {
		t.Error("a link that stands there is not doubted")
	}
}
