// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// smallFile is enough for every value under /proc and /sys that is one number
// or a short list.
const smallFile = 4096

// ReadSmallFile returns the first 4 KiB of a file of /proc or /sys, by three
// bare system calls: os.ReadFile costs two to four times that, since it also
// tries to register the file for polling (BenchmarkReadSmallFile).
func ReadSmallFile(name string) (string, error) {
	fd, err := retryFD("open", name, func() (int, error) {
		return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	text, errno := RereadSmallFile(fd)
	if errno != 0 {
		return "", &os.PathError{Op: "read", Path: name, Err: errno}
	}
	return text, nil
}

// RereadSmallFile returns the first 4 KiB of an open file of /proc or /sys, which
// answers anew each time.
func RereadSmallFile(fd int) (string, syscall.Errno) {
	var buf [smallFile]byte
	for {
		n, err := unix.Pread(fd, buf[:], 0)
		if err == unix.EINTR { // nothing was read
			continue
		}
		return string(buf[:max(n, 0)]), errnoOf(err)
	}
}
