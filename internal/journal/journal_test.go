// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func open(t *testing.T, dir string, maxBytes int64) *Journal {
	t.Helper()
	j, err := Open(dir, maxBytes, 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func read(t *testing.T, dir string) map[string]*Run {
	t.Helper()
	runs, _, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]*Run{}
	for _, r := range runs {
		m[r.ID] = r
	}
	return m
}

// TestUnfinishedIsLost: what has no end at the next start is marked, also
// behind half a line.
func TestUnfinishedIsLost(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, 1<<20)
	for _, id := range []string{"a", "b"} {
		if err := j.Start(&Start{ID: id, Time: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	j.End(&End{ID: "a", Outcome: Exited})
	if _, err := Open(dir, 1, 1); !errors.Is(err, ErrInUse) {
		t.Fatalf("a second writer: %v", err)
	}
	if r := read(t, dir)["b"]; r == nil || r.End != nil {
		t.Fatalf("b has an end already: %v", r)
	}
	if _, err := j.f.WriteString(`{"start":{"run_id":"half`); err != nil {
		t.Fatal(err)
	}
	_ = j.Close()
	j = open(t, dir, 1<<20)
	if err := j.Start(&Start{ID: "c"}); err != nil {
		t.Fatal(err)
	}
	runs := read(t, dir)
	if r := runs["a"]; r.End == nil || r.End.Outcome != Exited {
		t.Errorf("a: %+v", r)
	}
	if r := runs["b"]; r.End == nil || r.End.Outcome != Lost {
		t.Errorf("b: %+v", r)
	}
	if r := runs["c"]; r == nil || r.End != nil {
		t.Errorf("c: %+v", r)
	}
}

// TestRotation bounds what is kept, and loses no line of what is.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, 400)
	for i := range 100 {
		id := fmt.Sprint(i)
		if err := j.Start(&Start{ID: id}); err != nil {
			t.Fatal(err)
		}
		j.End(&End{ID: id, Outcome: Exited})
	}
	names := files(dir)
	if len(names) != 4 {
		t.Fatalf("%d files: %v", len(names), names)
	}
	for _, n := range names {
		if st, err := os.Stat(n); err != nil || st.Size() > 400 {
			t.Errorf("%s: %v, %d bytes", filepath.Base(n), err, st.Size())
		}
	}
	if r := read(t, dir)["99"]; r == nil || r.End == nil {
		t.Errorf("the last run: %+v", r)
	}
}

// TestFullDisk: a line that can't be written is an error, is counted, and the
// next one that can be clears it.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, 1<<20)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	good := j.f
	j.f = full
	if err := j.Start(&Start{ID: "a"}); err == nil {
		t.Fatal("a line went to a full disk")
	}
	if n, err := j.State(); n != 1 || err == nil {
		t.Errorf("state: %d, %v", n, err)
	}
	_ = full.Close()
	j.f = good
	if err := j.Start(&Start{ID: "b"}); err != nil {
		t.Fatal(err)
	}
	if n, err := j.State(); n != 1 || err != nil {
		t.Errorf("state: %d, %v", n, err)
	}
}
