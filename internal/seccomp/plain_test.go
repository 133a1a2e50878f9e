// SPDX-License-Identifier: Apache-2.0

package seccomp

import "slices"

// plain says what a filter must answer. It is written from the description of
// the policy, not from the tables: it names calls by strings, spells Linux's
// constants as the headers do, and looks at whole arguments.
func plain(archName string, c Config, d data) uint32 {
	native := map[string]uint32{"amd64": 0xc000003e, "arm64": 0xc00000b7}[archName]
	name, known := plainNames[archName][d.nr]
	if d.arch != native || !known {
		return failWith(ENOSYS)
	}
	answer := plainCall(name, c, d.args)
	if c.Refusals == RefusalsTrapped && plainRare(name, answer, d.args) {
		return verdict(Notify, 0)
	}
	return answer
}

// plainRare says which refusals are of calls that programs seldom make.
func plainRare(name string, answer uint32, a [6]uint64) bool {
	switch name {
	case "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
		"bpf", "perf_event_open", "userfaultfd", "fanotify_init", "keyctl", "add_key", "request_key", "modify_ldt",
		"iopl", "ioperm", "syslog", "acct", "swapon", "swapoff",
		"sethostname", "setdomainname", "settimeofday", "clock_settime", "vhangup", "quotactl", "quotactl_fd",
		"lsm_set_self_attr", "personality", "mount", "umount2", "pivot_root", "move_mount", "open_tree", "open_tree_attr",
		"fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "chroot", "open_by_handle_at",
		"clone", "unshare", "setns", "prlimit64", "setpriority", "ioprio_set",
		"sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages", "move_pages",
		"shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl",
		"msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink":
		return answer != verdict(Allow, 0)
	case "socket", "socketpair":
		return answer == failWith(EACCES) || answer == failWith(EPERM)
	case "ioctl":
		return slices.Contains([]uint32{0x5412, 0x541c, 0x5423}, uint32(a[1]))
	}
	return false
}

var plainNames = map[string]map[uint32]string{"amd64": names("amd64"), "arm64": names("arm64")}

func names(archName string) map[uint32]string {
	m := make(map[uint32]string)
	for nr := range uint32(1000) {
		if name, ok := Name(archName, nr); ok {
			m[nr] = name
		}
	}
	return m
}

func failWith(e Errno) uint32 { return 0x50000 + uint32(e) }

func verdict(v Verdict, e Errno) uint32 {
	switch v {
	case Allow:
		return 0x7fff0000
	case Notify:
		return 0x7fc00000
	}
	return failWith(e)
}

func plainCall(name string, c Config, a [6]uint64) uint32 {
	const allow = 0x7fff0000
	first, second, third := int32(a[0]), int32(a[1]), int32(a[2])
	fail := func(e Errno, when ...bool) uint32 {
		if slices.Contains(when, true) {
			return failWith(e)
		}
		return allow
	}
	switch name {
	case "io_uring_setup", "io_uring_enter", "io_uring_register", "clone3",
		"keyctl", "add_key", "request_key", "modify_ldt", "process_vm_readv", "process_vm_writev",
		"uselib", "_sysctl", "lookup_dcookie", "nfsservctl":
		return failWith(ENOSYS)
	case "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
		"bpf", "userfaultfd", "fanotify_init", "iopl", "ioperm", "syslog", "acct", "swapon", "swapoff",
		"sethostname", "setdomainname", "settimeofday", "clock_settime", "vhangup", "quotactl", "quotactl_fd",
		"lsm_set_self_attr", "mount", "umount2", "pivot_root", "move_mount", "open_tree", "open_tree_attr",
		"fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "chroot", "open_by_handle_at", "setns":
		return failWith(EPERM)
	case "perf_event_open":
		return failWith(EACCES)
	case "seccomp":
		return fail(EINVAL, uint32(a[1]) > 63)
	case "personality":
		p := uint32(a[0])
		return fail(EPERM, p != 0xffffffff && p&0xfff9fff7 != 0)
	case "clone":
		return fail(EPERM, uint32(a[0])&0x7e020000 != 0)
	case "unshare":
		return fail(EPERM, a[0]&^0x50f00 != 0)
	case "prlimit64":
		return fail(EPERM, first != 0 && a[2] != 0)
	case "setpriority":
		return fail(EPERM, first != 0, second != 0)
	case "ioprio_set":
		return fail(EPERM, first != 1, second != 0)
	case "sched_setscheduler", "sched_setparam", "sched_setattr", "migrate_pages", "move_pages":
		return fail(EPERM, first != 0)
	case "ioctl":
		return plainIoctl(c, uint32(a[1]))
	case "socket", "socketpair":
		return plainSocket(name, c, first, second&0xf, third)
	case "connect":
		return verdict(c.UnixConnect, EACCES)
	case "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
		"utime", "utimes", "futimesat", "utimensat",
		"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr":
		return verdict(c.Metadata, EPERM)
	case "setxattrat", "removexattrat", "file_setattr":
		if c.Metadata == Notify {
			return failWith(ENOSYS)
		}
		return verdict(c.Metadata, EPERM)
	case "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr":
		return verdict(c.Reads, EOPNOTSUPP)
	case "inotify_add_watch":
		return verdict(c.Reads, EACCES)
	case "getxattrat", "listxattrat":
		if c.Reads == Notify {
			return failWith(ENOSYS)
		}
		return verdict(c.Reads, ENOSYS)
	case "landlock_restrict_self":
		return verdict(c.Landlock, EOPNOTSUPP)
	case "truncate":
		if c.PathTruncate == Allow && c.Files != FilesNative {
			return verdict(Notify, 0)
		}
		return verdict(c.PathTruncate, EACCES)
	case "open":
		return plainOpen(c, second)
	case "openat":
		return plainOpen(c, third)
	case "openat2":
		if c.PathTruncate == Allow && c.Files != FilesNative {
			return verdict(Notify, 0)
		}
		if c.PathTruncate == Notify {
			return failWith(ENOSYS)
		}
		return verdict(c.PathTruncate, ENOSYS)
	case "creat", "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat",
		"unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "bind":
		if c.Files != FilesNative {
			return verdict(Notify, 0)
		}
		return allow
	case "execve", "execveat":
		if c.Files == FilesAll {
			return verdict(Notify, 0)
		}
		return allow
	case "fcntl":
		if c.Signals != Allow && (second == 8 && third != 0 || second == 10 || second == 4 && third&0o20000 != 0) {
			return failWith(EPERM)
		}
		if second == 1024 { // F_SETLEASE
			return failWith(EACCES)
		}
		if second == 1036 { // F_SET_RW_HINT
			return failWith(EINVAL)
		}
		return fail(EPERM, second == 8 && third < 0, second == 15)
	case "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal":
		return verdict(c.Signals, EPERM)
	case "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl",
		"msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink":
		return verdict(c.SharedIPC, EACCES)
	}
	return allow
}

func plainOpen(c Config, flags int32) uint32 {
	const wronly, rdwr, creat, trunc, tmpfile = 1, 2, 0o100, 0o1000, 0o20000000
	switch {
	case c.PathTruncate != Allow && truncates(flags):
		return failWith(EACCES)
	case c.Files == FilesAll, c.Files == FilesWrites && flags&(wronly|rdwr|creat|trunc|tmpfile) != 0:
		return verdict(Notify, 0)
	}
	return 0x7fff0000
}

// truncates: O_TRUNC, and neither O_WRONLY nor O_RDWR.
func truncates(flags int32) bool {
	mode := flags & 3
	return flags&0o1000 != 0 && mode != 1 && mode != 2
}

// plainIoctl composes request numbers as linux/ioctl.h does.
func plainIoctl(c Config, request uint32) uint32 {
	const write, read = 1, 2
	ioc := func(dir, kind, nr, size uint32) uint32 { return dir<<30 | size<<16 | kind<<8 | nr }
	switch request {
	case 0x5412, 0x541c, 0x5423, 0x8901, 0x8902:
		return failWith(EPERM)
	}
	if request == 0x5452 && c.Signals != Allow { // FIOASYNC
		return failWith(EPERM)
	}
	if c.Metadata == Allow {
		return 0x7fff0000
	}
	switch request {
	case ioc(write, 'f', 2, 8), ioc(write, 'f', 2, 4), ioc(write, 'v', 2, 8), ioc(write, 'v', 2, 4),
		ioc(write, 'f', 4, 8), ioc(write, 'f', 4, 4), ioc(0, 'f', 9, 0), ioc(write, 'r', 0x11, 4),
		ioc(write, 'X', 32, 28), ioc(write, 'f', 133, 128), ioc(write, 0x94, 50, 256), ioc(write, 'o', 4, 24),
		ioc(read, 'f', 19, 12), ioc(read|write, 'f', 23, 80), ioc(read|write, 'f', 24, 64), ioc(read|write, 'f', 25, 64),
		ioc(write, 0x94, 1, 4096), ioc(write, 0x94, 14, 4096), ioc(write, 0x94, 15, 4096), ioc(write, 0x94, 23, 4096),
		ioc(write, 0x94, 24, 4096), ioc(write, 0x94, 63, 4096), ioc(write, 0x94, 26, 8), ioc(read|write, 0x94, 37, 200):
		return failWith(EPERM)
	}
	return 0x7fff0000
}

func plainSocket(name string, c Config, domain, kind, protocol int32) uint32 {
	const unix, inet, inet6, netlink = 1, 2, 10, 16
	const stream, dgram, raw, packet = 1, 2, 3, 10
	open := c.Network == NetworkOpen && name == "socket"
	switch {
	case domain == unix && c.UnixDatagram == Refuse && (kind == dgram || kind == raw):
		return failWith(EACCES)
	case domain == unix, open && domain == netlink && protocol == 0:
		return 0x7fff0000
	case !open, domain != inet && domain != inet6:
		return failWith(EACCES)
	case kind == raw, kind == packet:
		return failWith(EPERM)
	case kind != stream && kind != dgram:
		return failWith(EPROTONOSUPPORT)
	}
	switch protocol {
	case 0, 6, 17, 1, 58:
		return 0x7fff0000
	}
	return failWith(EPROTONOSUPPORT)
}
