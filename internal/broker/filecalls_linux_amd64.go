// SPDX-License-Identifier: Apache-2.0

package broker

import "syscall"

// nrRenameat2 is missing in package syscall (asm/unistd_64.h).
const nrRenameat2 = 316

// nrExecveat is missing there, too.
const nrExecveat = 322

// fileCalls adds the older calls, which only the older architectures have.
func fileCalls() map[int32]call {
	t := commonFileCalls()
	t[syscall.SYS_OPEN] = call{"open", open}
	t[syscall.SYS_CREAT] = call{"creat", creat}
	t[syscall.SYS_MKDIR] = call{"mkdir", mkdir}
	t[syscall.SYS_MKNOD] = call{"mknod", mknod}
	t[syscall.SYS_SYMLINK] = call{"symlink", symlink}
	t[syscall.SYS_LINK] = call{"link", link}
	t[syscall.SYS_UNLINK] = call{"unlink", unlink}
	t[syscall.SYS_RMDIR] = call{"rmdir", rmdir}
	t[syscall.SYS_RENAME] = call{"rename", rename}
	return t
}
