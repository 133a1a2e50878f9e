// SPDX-License-Identifier: Apache-2.0

package backendtest

import "syscall"

var archNumbers = map[string]uintptr{
	"setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "name_to_handle_at": 303, "open_by_handle_at": 304,
	"kcmp": 312, "finit_module": 313, "sched_setattr": 314, "renameat2": 316, "seccomp": 317, "memfd_create": 319,
	"kexec_file_load": 320, "bpf": 321, "execveat": 322, "userfaultfd": 323, "copy_file_range": 326,

	// What other architectures never had.
	"open": syscall.SYS_OPEN, "creat": syscall.SYS_CREAT, "mkdir": syscall.SYS_MKDIR, "rmdir": syscall.SYS_RMDIR,
	"mknod": syscall.SYS_MKNOD, "link": syscall.SYS_LINK, "symlink": syscall.SYS_SYMLINK, "unlink": syscall.SYS_UNLINK,
	"rename": syscall.SYS_RENAME, "chmod": syscall.SYS_CHMOD, "chown": syscall.SYS_CHOWN, "lchown": syscall.SYS_LCHOWN,
	"utime": syscall.SYS_UTIME, "utimes": syscall.SYS_UTIMES, "futimesat": syscall.SYS_FUTIMESAT,
	"uselib": syscall.SYS_USELIB, "modify_ldt": syscall.SYS_MODIFY_LDT, "iopl": syscall.SYS_IOPL, "ioperm": syscall.SYS_IOPERM,
}
