// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"bytes"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// Entry is a name in a folder, with the folder's own word on what it is.
type Entry struct {
	Name string
	// Kind is d_type (readdir(3)); a file system may not know it.
	Kind EntryKind
}

// EntryKind is what a folder says of an entry.
type EntryKind uint8

const (
	EntryUnknown EntryKind = unix.DT_UNKNOWN
	EntryLink    EntryKind = unix.DT_LNK
	EntryRegular EntryKind = unix.DT_REG
)

// entriesBuffer holds some 2000 entries: a folder of thousands is few calls.
const entriesBuffer = 64 << 10

// The layout of struct linux_dirent64 (getdents(2)): inode and offset of 8
// bytes each, the record's length, the kind, and the name up to a zero byte.
const (
	direntLength = 16
	direntKind   = 18
	direntName   = 19
)

// Entries lists an open folder, from where its descriptor stands.
func Entries(dir int) ([]Entry, error) {
	var out []Entry
	buf := make([]byte, entriesBuffer)
	for {
		n, err := unix.Getdents(dir, buf)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, os.NewSyscallError("getdents64", err)
		case n == 0:
			return out, nil
		}
		for rest := buf[:n]; len(rest) > direntName; {
			length := int(binary.NativeEndian.Uint16(rest[direntLength:]))
			if length <= direntName || length > len(rest) {
				return nil, os.NewSyscallError("getdents64", unix.EIO)
			}
			name, _, _ := bytes.Cut(rest[direntName:length], []byte{0})
			if s := string(name); s != "." && s != ".." {
				out = append(out, Entry{s, EntryKind(rest[direntKind])})
			}
			rest = rest[length:]
		}
	}
}
