// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"maps"
	"slices"
	"strings"
	"syscall"
)

// numbers are those of the system calls that operations name. The table is
// the tests' own: one shared with the filter would share its mistakes.
var numbers = merged(archNumbers, map[string]uintptr{
	"acct": syscall.SYS_ACCT, "add_key": syscall.SYS_ADD_KEY, "capset": syscall.SYS_CAPSET, "chdir": syscall.SYS_CHDIR,
	"chroot": syscall.SYS_CHROOT, "clone": syscall.SYS_CLONE, "fallocate": syscall.SYS_FALLOCATE, "fcntl": syscall.SYS_FCNTL,
	"fanotify_init": syscall.SYS_FANOTIFY_INIT, "fchmod": syscall.SYS_FCHMOD, "fchmodat": syscall.SYS_FCHMODAT,
	"fchown": syscall.SYS_FCHOWN, "fchownat": syscall.SYS_FCHOWNAT, "fremovexattr": syscall.SYS_FREMOVEXATTR,
	"fsetxattr": syscall.SYS_FSETXATTR, "ftruncate": syscall.SYS_FTRUNCATE, "getpriority": syscall.SYS_GETPRIORITY,
	"init_module": syscall.SYS_INIT_MODULE, "ioctl": syscall.SYS_IOCTL, "ioprio_set": syscall.SYS_IOPRIO_SET,
	"kexec_load": syscall.SYS_KEXEC_LOAD, "keyctl": syscall.SYS_KEYCTL, "kill": syscall.SYS_KILL,
	"linkat": syscall.SYS_LINKAT, "lremovexattr": syscall.SYS_LREMOVEXATTR, "lsetxattr": syscall.SYS_LSETXATTR,
	"mkdirat": syscall.SYS_MKDIRAT, "mknodat": syscall.SYS_MKNODAT, "mount": syscall.SYS_MOUNT,
	"mq_open": syscall.SYS_MQ_OPEN, "mq_unlink": syscall.SYS_MQ_UNLINK, "msgget": syscall.SYS_MSGGET,
	"openat": syscall.SYS_OPENAT, "perf_event_open": syscall.SYS_PERF_EVENT_OPEN, "personality": syscall.SYS_PERSONALITY,
	"pivot_root": syscall.SYS_PIVOT_ROOT, "prctl": syscall.SYS_PRCTL, "prlimit64": syscall.SYS_PRLIMIT64,
	"ptrace": syscall.SYS_PTRACE, "quotactl": syscall.SYS_QUOTACTL, "readlinkat": syscall.SYS_READLINKAT,
	"reboot": syscall.SYS_REBOOT, "removexattr": syscall.SYS_REMOVEXATTR, "renameat": syscall.SYS_RENAMEAT,
	"request_key": syscall.SYS_REQUEST_KEY, "rt_sigqueueinfo": syscall.SYS_RT_SIGQUEUEINFO,
	"rt_tgsigqueueinfo": syscall.SYS_RT_TGSIGQUEUEINFO, "sched_setscheduler": syscall.SYS_SCHED_SETSCHEDULER,
	"semget": syscall.SYS_SEMGET, "sethostname": syscall.SYS_SETHOSTNAME, "setpriority": syscall.SYS_SETPRIORITY,
	"setuid": syscall.SYS_SETUID, "setxattr": syscall.SYS_SETXATTR, "shmget": syscall.SYS_SHMGET,
	"socket": syscall.SYS_SOCKET, "socketpair": syscall.SYS_SOCKETPAIR, "symlinkat": syscall.SYS_SYMLINKAT,
	"syslog": syscall.SYS_SYSLOG, "tgkill": syscall.SYS_TGKILL, "tkill": syscall.SYS_TKILL,
	"truncate": syscall.SYS_TRUNCATE, "umount2": syscall.SYS_UMOUNT2, "unlinkat": syscall.SYS_UNLINKAT,
	"unshare": syscall.SYS_UNSHARE, "utimensat": syscall.SYS_UTIMENSAT, "swapon": syscall.SYS_SWAPON,
	"vhangup": syscall.SYS_VHANGUP, "settimeofday": syscall.SYS_SETTIMEOFDAY, "migrate_pages": syscall.SYS_MIGRATE_PAGES,
	"sendmsg": syscall.SYS_SENDMSG, "recvmsg": syscall.SYS_RECVMSG, "pipe2": syscall.SYS_PIPE2, "faccessat": syscall.SYS_FACCESSAT, "fchdir": syscall.SYS_FCHDIR,
	"getxattr": syscall.SYS_GETXATTR, "lgetxattr": syscall.SYS_LGETXATTR, "fgetxattr": syscall.SYS_FGETXATTR,
	"listxattr": syscall.SYS_LISTXATTR, "llistxattr": syscall.SYS_LLISTXATTR, "flistxattr": syscall.SYS_FLISTXATTR,
}, map[string]uintptr{
	// From 424 on the numbers are the same everywhere (include/uapi/asm-generic/unistd.h).
	"pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
	"open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "pidfd_open": 434, "clone3": 435,
	"close_range": 436, "openat2": 437, "pidfd_getfd": 438, "mount_setattr": 442,
	"landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
	"fchmodat2": 452, "setxattrat": 463, "getxattrat": 464, "listxattrat": 465, "removexattrat": 466, "file_setattr": 469,
})

func merged(tables ...map[string]uintptr) map[string]uintptr {
	all := map[string]uintptr{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// archOnly reports whether an operation is a call that this architecture does
// not have: arm64 has none of the oldest ones.
func archOnly(op string) bool {
	name, _, _ := strings.Cut(op, " ")
	_, ok := numbers[name]
	return !ok && slices.Contains(oldCalls, name)
}

var oldCalls = []string{
	"open", "creat", "mkdir", "rmdir", "mknod", "link", "symlink", "unlink", "rename",
	"chmod", "chown", "lchown", "utime", "utimes", "futimesat", "uselib", "modify_ldt", "iopl", "ioperm",
}
