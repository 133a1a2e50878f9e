// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecent: the last runs come newest first, with their ends, across files,
// and no more of the files is read than is allowed.
func TestRecent(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, 400)
	for i := range 100 {
		if err := j.Start(&Start{ID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		if i > 0 { // the one before ends while this one runs
			j.End(&End{ID: fmt.Sprint(i - 1), Outcome: Exited})
		}
	}
	if n := len(files(dir)); n < 3 {
		t.Fatalf("%d files", n)
	}
	ids := func(runs []*Run) string {
		var s []string
		for _, r := range runs {
			mark := ""
			if r.End == nil {
				mark = "?"
			}
			s = append(s, r.ID+mark)
		}
		return strings.Join(s, " ")
	}
	runs, err := Recent(dir, 4, 1<<20)
	if got := ids(runs); err != nil || got != "99? 98 97 96" {
		t.Errorf("%s, %v", got, err)
	}
	runs, err = Recent(dir, 1000, 300) // two runs at most
	if got := ids(runs); err != nil || !strings.HasPrefix(got, "99?") || len(runs) > 2 {
		t.Errorf("%s, %v", got, err)
	}
	if runs, err := Recent(t.TempDir(), 4, 1<<20); err != nil || len(runs) != 0 {
		t.Errorf("an empty journal: %v, %v", runs, err)
	}
	if err := os.WriteFile(filepath.Join(dir, current), []byte("{\x00}\nhalf"), 0o600); err != nil {
		t.Fatal(err)
	}
	if runs, err := Recent(dir, 4, 1<<20); err != nil || len(runs) != 4 {
		t.Errorf("after a damaged file: %s, %v", ids(runs), err)
	}
}

// TestFind: a run is found whichever file it is in, also if its two lines are
// in two of them.
func TestFind(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, 350)
	for _, id := range []string{"early", "middle", "open"} {
		if err := j.Start(&Start{ID: id, Project: "of " + id, Argv: []string{`"run_id":"late"`}}); err != nil {
			t.Fatal(err)
		}
	}
	j.End(&End{ID: "middle", Outcome: Exited})
	j.End(&End{ID: "early", Outcome: Lost})
	if n := len(files(dir)); n < 2 {
		t.Fatalf("%d files", n)
	}
	for id, outcome := range map[string]string{"early": Lost, "middle": Exited, "open": ""} {
		r, err := Find(dir, id)
		if err != nil || r == nil || r.Project != "of "+id || (r.End == nil) != (outcome == "") || r.End != nil && r.End.Outcome != outcome {
			t.Errorf("%s: %+v, %v", id, r, err)
		}
	}
	for _, id := range []string{"late", "", "a"} {
		if r, err := Find(dir, id); err != nil || r != nil {
			t.Errorf("%q: %+v, %v", id, r, err)
		}
	}
}
