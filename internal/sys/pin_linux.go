// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The functions of this file serve one system call of somebody else, so they
// return the bare errno: it is the answer, or turned into it, and who asked
// knows the object's name.

// AtCWD stands for the working directory in place of a descriptor.
const AtCWD = unix.AT_FDCWD

// PinFlags says how a name is followed.
type PinFlags uint64

const (
	// PinLink pins a symbolic link that the name ends in, not its target.
	PinLink PinFlags = 1 << iota
	// PinPlain fails with ELOOP at any symbolic link on the way.
	PinPlain
	// PinJumps follows magic links of /proc too. Without it they fail with
	// ELOOP.
	PinJumps
)

// Pin opens the object that name leads to from the folder dir, with no access
// to its content (O_PATH, open(2)), so that it stays the same object whatever
// becomes of its name.
func Pin(dir int, name string, how PinFlags) (int, syscall.Errno) {
	open := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if how&PinLink != 0 {
		open.Flags |= unix.O_NOFOLLOW
	}
	if how&PinPlain != 0 {
		open.Resolve |= unix.RESOLVE_NO_SYMLINKS
	}
	if how&PinJumps != 0 {
		open.Resolve &^= unix.RESOLVE_NO_MAGICLINKS
	}
	return pin(dir, name, &open)
}

// resolveCached is RESOLVE_CACHED (linux/openat2.h, Linux 5.12).
const resolveCached = 0x20

// PinWithin is Pin under further restrictions on the way: RESOLVE_BENEATH and
// its like (openat2(2)). RESOLVE_CACHED is left out: it fails where the caller
// would have to wait, which is the broker's affair.
func PinWithin(dir int, name string, how PinFlags, resolve uint64) (int, syscall.Errno) {
	open := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve&^resolveCached | unix.RESOLVE_NO_MAGICLINKS}
	if how&PinLink != 0 {
		open.Flags |= unix.O_NOFOLLOW
	}
	return pin(dir, name, &open)
}

func pin(dir int, name string, open *unix.OpenHow) (int, syscall.Errno) {
	for {
		fd, err := unix.Openat2(dir, name, open)
		if err == nil {
			return fd, 0
		}
		// EAGAIN: the kernel could not be sure about a ".." while somebody
		// renamed folders (openat2(2), ERRORS).
		if err != unix.EINTR && err != unix.EAGAIN {
			return -1, errnoOf(err)
		}
	}
}

// ReadLinkAt returns what the symbolic link name in the folder dir says; of
// the link that dir itself pins, if name is empty (readlinkat(2)).
// ENAMETOOLONG: it says more than PATH_MAX bytes.
func ReadLinkAt(dir int, name string) (string, syscall.Errno) {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(dir, name, buf[:])
	switch {
	case err != nil:
		return "", errnoOf(err)
	case n == len(buf):
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), 0
}

// FDPath is the name under which this process reaches its own descriptor.
func FDPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// FSKind tells what a file system is like.
type FSKind struct {
	// Proc: it is a procfs.
	Proc bool
	// ReadOnly: it, or the mount, takes no writes.
	ReadOnly bool
	// NoLinks: symbolic links of this mount are not followed
	// (MS_NOSYMFOLLOW, mount(2), Linux 5.10).
	NoLinks bool
}

// FSKindOf asks about the mount that the descriptor is on (statfs(2)).
func FSKindOf(fd int) (FSKind, syscall.Errno) {
	var s unix.Statfs_t
	for {
		err := unix.Fstatfs(fd, &s)
		if err == unix.EINTR {
			continue
		}
		return FSKind{
			Proc:     s.Type == unix.PROC_SUPER_MAGIC,
			ReadOnly: s.Flags&unix.ST_RDONLY != 0,
			NoLinks:  s.Flags&stNoSymFollow != 0,
		}, errnoOf(err)
	}
}

// stNoSymFollow is ST_NOSYMFOLLOW (linux/statfs.h).
const stNoSymFollow = 0x2000

// FileMode returns how a descriptor was opened: O_RDONLY, O_WRONLY, O_RDWR,
// or 3, and whether it has O_PATH or O_NONBLOCK (fcntl(2), F_GETFL).
func FileFlags(fd int) (int, syscall.Errno) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return n, errnoOf(err)
}

// CopyMemory copies memory of the process that tid belongs to from addr into
// buf and returns how much it got: less than asked for where the mapping ends
// (process_vm_readv(2)).
func CopyMemory(tid int, addr uint64, buf []byte) (int, syscall.Errno) {
	if len(buf) == 0 {
		return 0, 0
	}
	local := unix.Iovec{Base: &buf[0]}
	local.SetLen(len(buf))
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(buf)}
	n, _, errno := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(tid),
		uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	return int(n), errno
}

// errnoOf unwraps what the unix package returns.
func errnoOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return unix.EINVAL
}
