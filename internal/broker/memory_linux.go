// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bytes"
	"encoding/binary"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

const (
	// pathMax is PATH_MAX, which counts the NUL (linux/limits.h).
	pathMax = 4096
	// xattrNameMax and xattrSizeMax bound extended attributes
	// (XATTR_NAME_MAX, XATTR_SIZE_MAX, linux/limits.h).
	xattrNameMax = 255
	xattrSizeMax = 65536
	// firstLook is how much of a string is copied at first. Most names are
	// shorter, and a copy costs by the page.
	firstLook = 256
	pageSize  = 4096
)

// copyBytes copies exactly size bytes of the caller's memory.
func (t *task) copyBytes(addr uint64, size int) ([]byte, syscall.Errno) {
	buf := make([]byte, size)
	n, errno := sys.CopyMemory(t.tid, addr, buf)
	switch {
	case errno != 0:
		return nil, closed(errno)
	case n != size:
		return nil, syscall.EFAULT
	}
	return buf, 0
}

// copyString copies a string of at most limit bytes with its NUL; tooLong is
// the errno for a longer one. It stops at page ends: what follows may not be
// there, and need not be.
func (t *task) copyString(addr uint64, limit int, tooLong syscall.Errno) (string, syscall.Errno) {
	var got []byte
	size := firstLook
	for len(got) < limit {
		at := addr + uint64(len(got))
		n := min(size, limit-len(got), pageSize-int(at%pageSize))
		chunk, errno := t.copyBytes(at, n)
		if errno != 0 {
			return "", errno
		}
		if i := bytes.IndexByte(chunk, 0); i >= 0 {
			return string(append(got, chunk[:i]...)), 0
		}
		got = append(got, chunk...)
		size = limit
	}
	return "", tooLong
}

// copyPath copies a path (getname_flags in fs/namei.c).
func (t *task) copyPath(addr uint64) (string, syscall.Errno) {
	return t.copyString(addr, pathMax, syscall.ENAMETOOLONG)
}

// words reads 64-bit integers, in the byte order of the host.
func words(b []byte) []int64 {
	out := make([]int64, len(b)/8)
	for i := range out {
		out[i] = int64(binary.NativeEndian.Uint64(b[i*8:]))
	}
	return out
}
