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
	"path/filepath"
	"sort"
)

const (
	current = "runs.jsonl"
	older   = "runs-*.jsonl"
)

// Read returns the runs in the folder, oldest first, and how many lines could
// not be read: a machine that lost its power may leave half a line.
func Read(dir string) (runs []*Run, bad int, err error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, 0, fmt.Errorf("cannot read the journal: %w", err)
	}
	byID := map[string]*Run{}
	for _, name := range files(dir) {
		err := each(name, func(l *line) {
			switch {
			case l.Start != nil:
				r := &Run{Start: *l.Start}
				byID[r.ID] = r
				runs = append(runs, r)
			case l.End != nil && byID[l.End.ID] != nil:
				byID[l.End.ID].End = l.End
			case l.End == nil:
				bad++
			}
		})
		if err != nil {
			return nil, bad, fmt.Errorf("cannot read the journal: %w", err)
		}
	}
	return runs, bad, nil
}

// files lists the files, oldest first: their names hold the time.
func files(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(dir, older))
	sort.Strings(names)
	return append(names, filepath.Join(dir, current))
}

// each calls do for every line; an empty line value stands for one that is
// none.
func each(name string, do func(*line)) error {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // rotated away meanwhile, or not there yet
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReader(f)
	for {
		b, err := r.ReadBytes('\n')
		if b = bytes.TrimSpace(b); len(b) > 0 {
			l := &line{}
			if json.Unmarshal(b, l) != nil {
				l = &line{}
			}
			do(l)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
