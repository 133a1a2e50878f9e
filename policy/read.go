// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// MaxFileSize is how many bytes a policy file may have. Thousands of paths
// fit; a larger file is a mistake.
const MaxFileSize = 1 << 20

// ReadFile reads and decodes a policy file. The layer has the path as its
// name. Only a regular file of at most [MaxFileSize] bytes is read; anything
// else is an error at once, without waiting for the other end of a FIFO and
// without reading a device. All errors are of the type [*Error], and wrap the
// operating system's if there is one. "-" is a file like any other.
func ReadFile(path string) (Layer, error) {
	data, err := readRegular(path)
	if err != nil {
		return Layer{}, err
	}
	p, err := Decode(path, data)
	if err != nil {
		return Layer{}, err
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return Layer{}, openError(path, err)
	}
	return Layer{Name: path, Policy: p, File: file}, nil
}

func readRegular(path string) ([]byte, error) {
	// Opening a device may already do something, so the name is looked at
	// first. What counts is the descriptor: the name may change meanwhile.
	info, err := os.Stat(path)
	if err != nil {
		return nil, openError(path, err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, err
	}
	// Without O_NONBLOCK, opening a FIFO waits for a writer (fifo(7)); for a
	// regular file the flag has no effect (open(2)). O_NOCTTY: should a
	// terminal have taken the name, it does not become ours.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, openError(path, err)
	}
	defer f.Close()
	return readOpen(path, f)
}

// readOpen judges and reads what really was opened.
func readOpen(path string, f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, openError(path, err)
	}
	if err := checkFile(path, info); err != nil {
		return nil, err
	}
	// The size may be wrong by now, or be 0 as in /proc.
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, openError(path, err)
	}
	if len(data) > MaxFileSize {
		return nil, tooBig(path, int64(len(data)))
	}
	return data, nil
}

// checkFile accepts a regular file of a fair size.
func checkFile(path string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular() && info.Size() > MaxFileSize:
		return tooBig(path, info.Size())
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return cannotRead(path, "it is a directory", "name a file in it", nil)
	case mode&fs.ModeNamedPipe != 0:
		return cannotRead(path, "it is a FIFO", "write the policy to a regular file", nil)
	case mode&fs.ModeSocket != 0:
		return cannotRead(path, "it is a socket", "write the policy to a regular file", nil)
	}
	return cannotRead(path, "it is a device", "write the policy to a regular file", nil)
}

func tooBig(path string, size int64) error {
	return cannotRead(path, fmt.Sprintf("it has %d bytes, and at most %d are read", size, MaxFileSize),
		"check that it is the right file", nil)
}

// openError puts the causes that people meet into words.
func openError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cannotRead(path, "it does not exist", "check the path", err)
	case errors.Is(err, fs.ErrPermission):
		return cannotRead(path, "permission denied", "let this user read it and enter its folders", err)
	case errors.Is(err, syscall.ELOOP):
		return cannotRead(path, "its symbolic links form a loop", "point them at a file", err)
	case errors.Is(err, syscall.ENOTDIR):
		return cannotRead(path, "a part of its path is not a directory", "check the path", err)
	case errors.Is(err, syscall.ENXIO):
		return cannotRead(path, "it is not a regular file", "write the policy to one", err)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return cannotRead(path, pathErr.Err.Error(), "", err)
	}
	return cannotRead(path, err.Error(), "", err)
}

func cannotRead(path, why, hint string, err error) error {
	return &Error{Name: path, Msg: "cannot read the policy file: " + why, Hint: hint, Err: err}
}
