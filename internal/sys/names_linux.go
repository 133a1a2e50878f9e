// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The functions of this file make one system call of somebody else on a
// pinned folder and a name in it, and return the bare errno: it is the answer.
// None of them follows a symbolic link that the name ends in.

// Flags of open(2) that package syscall lacks (asm-generic/fcntl.h).
const (
	OpenPathOnly = unix.O_PATH
	// OpenTemporary is the bit that tells O_TMPFILE from O_DIRECTORY.
	OpenTemporary = unix.O_TMPFILE &^ unix.O_DIRECTORY
)

// Flags of renameat2(2) and linkat(2) (linux/fs.h, linux/fcntl.h).
const (
	RenameNoReplace = unix.RENAME_NOREPLACE
	RenameExchange  = unix.RENAME_EXCHANGE
)

// OpenAt opens a name (openat(2)). Unlike its like it follows what it is told
// to follow: the caller adds O_NOFOLLOW, or opens a name of FDPath.
func OpenAt(dir int, name string, flags int, mode uint32) (int, syscall.Errno) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode)
		if err == unix.EINTR {
			continue
		}
		return fd, errnoOf(err)
	}
}

// MakeFolder makes a folder (mkdirat(2)); the thread's umask applies.
func MakeFolder(dir int, name string, mode uint32) syscall.Errno {
	return errnoOf(unix.Mkdirat(dir, name, mode))
}

// MakeNode makes a file, FIFO or socket (mknodat(2)); the umask applies.
func MakeNode(dir int, name string, mode uint32) syscall.Errno {
	return errnoOf(unix.Mknodat(dir, name, mode, 0))
}

// MakeLink makes a symbolic link that says text (symlinkat(2)).
func MakeLink(text string, dir int, name string) syscall.Errno {
	return errnoOf(unix.Symlinkat(text, dir, name))
}

// Link gives the object that a descriptor pins another name (linkat(2)). The
// magic link is followed to the object, and not on from there.
func Link(object, dir int, name string) syscall.Errno {
	return errnoOf(unix.Linkat(unix.AT_FDCWD, FDPath(object), dir, name, unix.AT_SYMLINK_FOLLOW))
}

// Unlink removes a name of anything but a folder (unlinkat(2)).
func Unlink(dir int, name string) syscall.Errno { return errnoOf(unix.Unlinkat(dir, name, 0)) }

// RemoveFolder removes an empty folder (unlinkat(2), AT_REMOVEDIR).
func RemoveFolder(dir int, name string) syscall.Errno {
	return errnoOf(unix.Unlinkat(dir, name, unix.AT_REMOVEDIR))
}

// Rename moves a name (renameat2(2)).
func Rename(from int, name string, to int, newName string, flags uint) syscall.Errno {
	if flags == 0 { // renameat2 is missing on no kernel of ours, but on file systems
		return errnoOf(unix.Renameat(from, name, to, newName))
	}
	return errnoOf(unix.Renameat2(from, name, to, newName, flags))
}

// Truncate sets the size of a file that is open for writing (ftruncate(2)).
func Truncate(fd int, size int64) syscall.Errno {
	for {
		if err := unix.Ftruncate(fd, size); err != unix.EINTR {
			return errnoOf(err)
		}
	}
}

// IdentityOf returns the device and inode number of a name, which is not
// followed.
func IdentityOf(name string) (dev, ino uint64, errno syscall.Errno) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return 0, 0, errnoOf(err)
	}
	return uint64(st.Dev), st.Ino, 0
}

// FileSizeLimit returns the soft limit of a process for the size of files
// (prlimit(2), RLIMIT_FSIZE).
func FileSizeLimit(pid int) (uint64, syscall.Errno) {
	var l unix.Rlimit
	err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &l)
	return l.Cur, errnoOf(err)
}

// Bind gives a socket an address as the kernel knows it (bind(2)).
func Bind(fd int, addr []byte) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(addr))), uintptr(len(addr)))
	return errno
}
