// SPDX-License-Identifier: Apache-2.0

package sys

import "golang.org/x/sys/unix"

// IsEmptyFolder reports whether an open folder is empty, read from its start:
// false also where that can't be told.
func IsEmptyFolder(fd int) bool {
	// An entry has at most 24 bytes before its name, and 256 of that
	// (linux/dirent.h), and some file systems report their dots one by one.
	var buf [1024]byte
	var names [1]string
	for {
		n, err := unix.Getdents(fd, buf[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return false
		case n == 0:
			return true
		}
		if _, count, _ := unix.ParseDirent(buf[:n], 1, names[:0]); count > 0 { // it leaves out the dots
			return false
		}
	}
}
