// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SeccompTsync installs a filter, and no_new_privs, on every thread of the
// process (seccomp(2), SECCOMP_FILTER_FLAG_TSYNC).
const SeccompTsync = unix.SECCOMP_FILTER_FLAG_TSYNC

// Actions that a filter returns, for SeccompActionAvail (seccomp(2)).
const (
	SeccompRetErrno     = unix.SECCOMP_RET_ERRNO
	SeccompRetUserNotif = unix.SECCOMP_RET_USER_NOTIF
	SeccompRetAllow     = unix.SECCOMP_RET_ALLOW
)

// maxFilter is BPF_MAXINSNS (linux/bpf_common.h).
const maxFilter = 4096

// SeccompActionAvail says whether the kernel knows an action of filters, and
// returns nil if it does, EOPNOTSUPP if not (seccomp(2),
// SECCOMP_GET_ACTION_AVAIL, since Linux 4.14).
func SeccompActionAvail(action uint32) error {
	if err := seccomp(unix.SECCOMP_GET_ACTION_AVAIL, 0, unsafe.Pointer(&action)); err != 0 {
		return os.NewSyscallError("seccomp", err)
	}
	return nil
}

// InstallFilter puts a filter, given as sock_filter instructions of 8 bytes
// each, on the calling thread (on all of them with SeccompTsync), which has set
// no_new_privs before. There is no way back. listener is the descriptor of the
// notifications with SeccompNewListener, otherwise -1.
func InstallFilter(filter []byte, flags uintptr) (listener int, err error) {
	if len(filter)%unix.SizeofSockFilter != 0 || len(filter) == 0 || len(filter) > maxFilter*unix.SizeofSockFilter {
		return -1, fmt.Errorf("cannot install a filter of %d bytes: %w", len(filter), unix.EINVAL)
	}
	prog := &unix.SockFprog{
		Len:    uint16(len(filter) / unix.SizeofSockFilter),
		Filter: (*unix.SockFilter)(unsafe.Pointer(unsafe.SliceData(filter))),
	}
	fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(prog)))
	runtime.KeepAlive(filter)
	switch {
	case errno != 0:
		return -1, os.NewSyscallError("seccomp", errno)
	case flags&unix.SECCOMP_FILTER_FLAG_NEW_LISTENER != 0:
		return int(fd), nil
	case fd != 0:
		// With TSYNC the kernel names the thread that stood in the way.
		return -1, fmt.Errorf("cannot install a filter: thread %d has another one", fd)
	}
	return -1, nil
}
