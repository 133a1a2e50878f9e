// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// DescriptorLimit returns the soft limit of a process for descriptors: no
// number reaches it (prlimit(2), RLIMIT_NOFILE).
func DescriptorLimit(pid int) (uint64, syscall.Errno) {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &l)
	return l.Cur, errnoOf(err)
}

// CountDescriptors counts the descriptors below limit in a folder of a proc
// file system, /proc/PID/fd. Since Linux 6.2 its size is how many there are,
// before it is 0 (proc_pid_fd(5)): if they are few, none is looked at.
func CountDescriptors(proc int, name string, limit uint64) (uint64, syscall.Errno) {
	fd, err := unix.Openat(proc, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, errnoOf(err)
	}
	dir := os.NewFile(uintptr(fd), name)
	defer func() { _ = dir.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, errnoOf(err)
	}
	if st.Size > 0 && uint64(st.Size) < limit {
		return uint64(st.Size), 0
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, unix.EIO
	}
	var below uint64
	for _, name := range names {
		if n, err := strconv.ParseUint(name, 10, 64); err == nil && n < limit {
			below++
		}
	}
	return below, 0
}
