// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// copyChunk is how much one call of CopyPart copies at most.
const copyChunk = 8 << 20

// CopyPart copies some of a file's content, from where both descriptors stand,
// and returns how much: 0 at the end. The two share the blocks where the file
// system can (copy_file_range(2)).
func CopyPart(from, to int) (int, syscall.Errno) {
	n, err := unix.CopyFileRange(from, nil, to, nil, copyChunk, 0)
	if err == nil && n > 0 {
		return n, 0
	}
	// Some file systems have no such call, and answer differently.
	var buf [64 << 10]byte
	for {
		n, err = unix.Read(from, buf[:])
		if err != unix.EINTR {
			break
		}
	}
	if err != nil || n == 0 {
		return 0, errnoOf(err)
	}
	for done := 0; done < n; {
		m, err := unix.Write(to, buf[done:n])
		if err != nil && err != unix.EINTR {
			return 0, errnoOf(err)
		}
		done += max(m, 0)
	}
	return n, 0
}

// MayExecute reports whether this thread's user may execute what a descriptor
// pins, as far as modes and mounts say so (access(2), X_OK).
func MayExecute(fd int) bool { return unix.Access(FDPath(fd), unix.X_OK) == nil }

// ReadStart reads the first bytes of an open file.
func ReadStart(fd int, buf []byte) int {
	for {
		n, err := unix.Pread(fd, buf, 0)
		if err != unix.EINTR {
			return max(n, 0)
		}
	}
}
