// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// RemoveTmp removes a private temporary folder and everything in it. Nothing
// else works in it any more: the tree has ended. dir is the folder, open since
// it was made: where its name lies in a place that the command can write,
// something else may stand there by now. A folder that is gone is no error.
//
// The command may have made it as deep as it liked, and taken its own rights
// away (a Go module cache is read-only). So folders are given their rights
// back, and those inside folders are first moved up to the top: depth costs
// neither descriptors nor path length. os.Root does not follow links out.
func RemoveTmp(dir *os.File, name string) error {
	if unlinked(dir) == nil {
		return nil
	}
	err := dir.Chmod(0o700)
	if err == nil {
		err = empty(dir)
	}
	if rm := os.Remove(name); rm != nil && !errors.Is(rm, os.ErrNotExist) && err == nil {
		err = rm
	}
	if err == nil {
		err = unlinked(dir)
	}
	if err != nil {
		return fmt.Errorf("cannot remove %s: %w", name, err)
	}
	return nil
}

func empty(dir *os.File) error {
	root, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(int(dir.Fd())))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return emptyRoot(root)
}

// unlinked makes sure that it was the folder itself that had the name.
func unlinked(dir *os.File) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(dir.Fd()), &st); err != nil {
		return err
	}
	if st.Nlink != 0 {
		return errors.New("the command moved it elsewhere; it is empty")
	}
	return nil
}

// emptyRoot removes everything at the top until nothing is left. Each pass
// takes one level off every folder, so it ends.
func emptyRoot(root *os.Root) error {
	moved := 0
	for {
		names, err := list(root, ".")
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := removeTop(root, name, &moved); err != nil {
				return err
			}
		}
	}
}

// removeTop removes a file at the top, or empties a folder there: files are
// removed, folders moved up beside it.
func removeTop(root *os.Root, name string, moved *int) error {
	err := root.Remove(name)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
		return err
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	inside, err := list(root, name)
	if err != nil {
		return err
	}
	for _, in := range inside {
		in = filepath.Join(name, in)
		if err := root.Remove(in); err == nil {
			continue
		}
		// Moving a folder takes the right to write in it, too: its ".."
		// changes (rename(2), EACCES).
		if err := root.Chmod(in, 0o700); err != nil {
			return err
		}
		if err := moveUp(root, in, moved); err != nil {
			return err
		}
	}
	return root.Remove(name)
}

// moveUp gives a folder a name at the top that nothing has yet.
func moveUp(root *os.Root, from string, moved *int) error {
	for {
		*moved++
		to := ".ambit-" + strconv.Itoa(*moved)
		if _, err := root.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return root.Rename(from, to)
		}
	}
}

func list(root *os.Root, name string) ([]string, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.Readdirnames(-1)
}
