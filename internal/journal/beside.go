// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

const (
	besidePrefix = "beside-"
	maxBeside    = 64 // processes at once
)

// OpenBeside opens a journal for a process that runs beside the service which
// writes to dir, and beside others of its kind: in the first folder below dir
// that none of them has. What those left that were killed is marked.
func OpenBeside(dir string, maxBytes int64, keep int) (*Journal, error) {
	var own *Journal
	for n := 1; n <= maxBeside; n++ {
		name := filepath.Join(dir, besidePrefix+strconv.Itoa(n))
		if _, err := os.Lstat(name); own != nil && errors.Is(err, os.ErrNotExist) {
			break
		}
		j, err := Open(name, maxBytes, keep)
		switch {
		case errors.Is(err, ErrInUse):
		case err != nil && own == nil:
			return nil, err
		case err != nil: // the next process that has this folder says so
		case own == nil:
			own = j
		default: // opening has marked what was left
			_ = j.Close()
		}
	}
	if own == nil {
		return nil, fmt.Errorf("cannot open a journal in %s: %d processes write to it already; end some", dir, maxBeside)
	}
	return own, nil
}

// ReadAll is [Read] for the folder and what processes beside the service wrote
// below it.
func ReadAll(dir string) (runs []*Run, bad int, err error) {
	runs, bad, err = Read(dir)
	if err != nil {
		return nil, bad, err
	}
	for n := 1; n <= maxBeside; n++ {
		name := filepath.Join(dir, besidePrefix+strconv.Itoa(n))
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			continue
		}
		more, worse, err := Read(name)
		if err != nil {
			return nil, bad, err
		}
		runs, bad = append(runs, more...), bad+worse
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return a.Time.Compare(b.Time) })
	return runs, bad, nil
}
