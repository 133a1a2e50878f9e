// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// PartThreadFS gives the calling thread a umask and a working directory of its
// own (unshare(2), CLONE_FS). The caller has locked its goroutine to the
// thread, for good.
func PartThreadFS() error {
	return os.NewSyscallError("unshare", unix.Unshare(unix.CLONE_FS))
}

// SetThreadUmask sets the umask of a thread that has parted.
func SetThreadUmask(mask int) { unix.Umask(mask) }

// EnterFolder makes a folder the working directory of a thread that has
// parted.
func EnterFolder(fd int) syscall.Errno { return errnoOf(unix.Fchdir(fd)) }
