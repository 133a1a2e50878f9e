// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Recent returns the last runs, newest first: at most count of them, and of
// those only what stands in the last most bytes of the files. So it takes a
// bounded time and memory, however long the journal is.
func Recent(dir string, count int, most int64) ([]*Run, error) {
	var newest []*Run
	ends := map[string]*End{} // of runs whose begin is in an older file
	names := files(dir)
	for _, name := range slices.Backward(names) {
		if most <= 0 || len(newest) >= count {
			break
		}
		lines, err := tail(name, most)
		if err != nil {
			return nil, fmt.Errorf("cannot read the journal: %w", err)
		}
		most -= int64(len(lines))
		newest = append(newest, runsIn(lines, ends)...)
	}
	return newest[:min(count, len(newest))], nil
}

// runsIn reads lines into runs, newest first.
func runsIn(lines []byte, ends map[string]*End) []*Run {
	var runs []*Run
	for b := range bytes.Lines(lines) {
		l := &line{}
		switch err := json.Unmarshal(b, l); {
		case err != nil:
		case l.Start != nil:
			runs = append(runs, &Run{Start: *l.Start})
		case l.End != nil:
			ends[l.End.ID] = l.End
		}
	}
	for _, r := range runs {
		if r.End = ends[r.ID]; r.End != nil {
			delete(ends, r.ID)
		}
	}
	slices.Reverse(runs)
	return runs
}

// tail returns the whole lines in the last bytes of a file.
func tail(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // rotated away meanwhile, or not there yet
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(st.Size()-most, 0)
	b, err := io.ReadAll(io.NewSectionReader(f, from, st.Size()-from))
	if err != nil || from == 0 {
		return b, err
	}
	_, b, _ = bytes.Cut(b, []byte("\n"))
	return b, nil
}

// Find returns one run, or nil. It holds one line at a time.
func Find(dir, id string) (*Run, error) {
	found := &Run{}
	for _, name := range slices.Backward(files(dir)) {
		if err := findIn(name, id, found); err != nil {
			return nil, fmt.Errorf("cannot read the journal: %w", err)
		}
		if found.ID != "" { // its end is in the same file, or in a newer one
			return found, nil
		}
	}
	return nil, nil
}

// findIn fills in what a file knows of a run.
func findIn(name, id string, into *Run) error {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	quoted := []byte(`"run_id":"` + id + `"`)
	r := bufio.NewReader(f)
	for {
		b, err := r.ReadBytes('\n')
		if l := (&line{}); bytes.Contains(b, quoted) && json.Unmarshal(b, l) == nil {
			into.take(l, id)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

func (r *Run) take(l *line, id string) {
	switch {
	case l.Start != nil && l.Start.ID == id:
		r.Start = *l.Start
	case l.End != nil && l.End.ID == id:
		r.End = l.End
	}
}
