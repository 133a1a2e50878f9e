// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// call is a row of the table: a system call that the broker serves.
type call struct {
	name  string
	serve func(*task) syscall.Errno
}

// sysFchmodat2 has the same number on every architecture (Linux 6.6).
const sysFchmodat2 = 452

// commonCalls are those that every architecture has.
func commonCalls() map[int32]call {
	t := map[int32]call{
		syscall.SYS_FCHMOD:   {"fchmod", fchmod},
		syscall.SYS_FCHMODAT: {"fchmodat", fchmodat},
		sysFchmodat2:         {"fchmodat2", fchmodat2},

		syscall.SYS_FCHOWN:   {"fchown", fchown},
		syscall.SYS_FCHOWNAT: {"fchownat", fchownat},

		syscall.SYS_UTIMENSAT: {"utimensat", utimensat},

		syscall.SYS_SETXATTR:     {"setxattr", setxattr},
		syscall.SYS_LSETXATTR:    {"lsetxattr", lsetxattr},
		syscall.SYS_FSETXATTR:    {"fsetxattr", fsetxattr},
		syscall.SYS_REMOVEXATTR:  {"removexattr", removexattr},
		syscall.SYS_LREMOVEXATTR: {"lremovexattr", lremovexattr},
		syscall.SYS_FREMOVEXATTR: {"fremovexattr", fremovexattr},

		syscall.SYS_GETXATTR:   {"getxattr", getxattr},
		syscall.SYS_LGETXATTR:  {"lgetxattr", lgetxattr},
		syscall.SYS_FGETXATTR:  {"fgetxattr", fgetxattr},
		syscall.SYS_LISTXATTR:  {"listxattr", listxattr},
		syscall.SYS_LLISTXATTR: {"llistxattr", llistxattr},
		syscall.SYS_FLISTXATTR: {"flistxattr", flistxattr},

		syscall.SYS_INOTIFY_ADD_WATCH: {"inotify_add_watch", addWatch},

		syscall.SYS_CONNECT: {"connect", connect},

		syscall.SYS_TRUNCATE: {"truncate", truncateAnywhere},
	}
	if !sys.HasFchmodat2() {
		delete(t, sysFchmodat2) // ENOSYS, as without us
	}
	return t
}
