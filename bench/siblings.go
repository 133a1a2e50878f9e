// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// siblingCounts are how many things stand beside a closed place.
var siblingCounts = []int{1000, 10_000, 100_000}

// siblings compares the start-up of a command in a folder of thousands of
// files, or of folders, with and without a place among them that is closed:
// then each of them is listed, and may need a rule of its own.
func (b *bench) siblings() error {
	for _, kind := range []struct {
		name string
		fill func(dir string, n int) error
	}{{"files", emptyFiles}, {"folders", emptyFolders}} {
		for _, n := range siblingCounts {
			dir, err := os.MkdirTemp(b.dir, "siblings-")
			if err == nil {
				err = kind.fill(dir, n)
			}
			if err == nil {
				err = os.Mkdir(filepath.Join(dir, "closed"), 0o755)
			}
			if err == nil {
				err = b.siblingsIn(dir, fmt.Sprintf("%d %s", n, kind.name), max(5, min(b.rounds, 200_000/n)))
			}
			_ = os.RemoveAll(dir)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) siblingsIn(dir, what string, rounds int) error {
	within := func(flags ...string) []string {
		argv := append([]string{b.ambit, "run", "--unprotect", "all"}, flags...)
		return append(argv, "--", nothing)
	}
	subjects := []subject{
		{name: "nothing closed", argv: within(), dir: dir},
		{name: "closed for writing", argv: within("--block-write", "closed"), dir: dir},
		{name: "closed", argv: within("--block", "closed"), dir: dir},
	}
	times, err := compare(subjects, min(rounds, 40))
	if err != nil {
		return err
	}
	table(b.out, "Start-up beside "+what, subjects, times, 0)
	return nil
}

func emptyFiles(dir string, n int) error {
	for i := range n {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("e%06d", i)))
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func emptyFolders(dir string, n int) error {
	for i := range n {
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprintf("e%06d", i)), 0o755); err != nil {
			return err
		}
	}
	return nil
}
