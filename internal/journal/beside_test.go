// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"testing"
	"time"
)

// TestBeside: each process beside the service writes to a folder of its own,
// which the next one takes over; what was killed is marked, in whichever folder
// it was, and one that lives is left alone.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	beside := func() *Journal {
		j, err := OpenBeside(dir, 1<<20, 3)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = j.Close() })
		return j
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	start := func(j *Journal, id string) {
		at = at.Add(time.Second)
		if err := j.Start(&Start{ID: id, Time: at}); err != nil {
			t.Fatal(err)
		}
	}
	service := open(t, dir, 1<<20)
	first, second, third := beside(), beside(), beside()
	start(third, "a")
	start(service, "b")
	start(first, "c")
	start(second, "d")
	_, _ = third.Close(), second.Close() // as if killed: the runs have no end
	if fourth := beside(); fourth.dir != second.dir {
		t.Errorf("%s, not %s", fourth.dir, second.dir)
	}
	runs, bad, err := ReadAll(dir)
	if err != nil || bad != 0 {
		t.Fatalf("%d bad, %v", bad, err)
	}
	got := ""
	for _, r := range runs {
		if got += r.ID; r.End != nil {
			got += "(" + r.End.Outcome + ")"
		}
	}
	if want := fmt.Sprintf("a(%s)bcd(%s)", Lost, Lost); got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if own, _, err := Read(dir); err != nil || len(own) != 1 {
		t.Errorf("the service's own: %d, %v", len(own), err)
	}
}
