// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"os"
	"syscall"
)

// bad is an argument that no call takes, as a descriptor, flags or an address.
// Most probes of refused calls pass it: without the filter they fail on it, in
// another way than the filter fails them, and change nothing.
const bad = ^uintptr(0)

// high is what the kernel must not see of an int argument.
const high = 1 << 32

// What the calls point at.
var (
	limitOld, limitNew syscall.Rlimit
	vector             [2]uintptr
	memory             [64]byte
	parameter          int32 // sched_priority 0
	attributes         = [12]uint32{0: 48}
	mask               = ^uint64(0)
	fileFlags          uint64
	pair               [2]int32
)

func probesStrict() []probe {
	limitNew = currentLimit()
	file, link := temporary("probe"), temporary("flags")
	return concat(
		networkProbes(), processProbes(), namespaceProbes(), kernelProbes(), terminalProbes(), ipcProbes(syscall.EACCES),
		metadataProbes(syscall.EPERM, address(file)),
		readProbes(syscall.EOPNOTSUPP, syscall.EACCES, syscall.ENOSYS, address(file)), truncateProbes(syscall.EACCES, syscall.ENOSYS, address(file)),
		fileFlagProbes(syscall.EPERM, link), signalProbes(syscall.EPERM),
		[]probe{{name: "connect", do: raw("connect", bad, 0, 0), want: syscall.EACCES}},
	)
}

func probesOpen() []probe {
	file := temporary("probe")
	const mptcp, generic = 262, 16
	return concat(
		ipcProbes(unchanged), metadataProbes(unchanged, address(file)),
		readProbes(unchanged, unchanged, unchanged, address(file)), truncateProbes(unchanged, unchanged, address(file)),
		fileFlagProbes(unchanged, file), signalProbes(unchanged),
		[]probe{
			{name: "connect", do: raw("connect", bad, 0, 0), want: unchanged},
			{name: "tcp", do: raw("socket", afInet, sockStream, 0), want: unchanged},
			{name: "tcp6", do: raw("socket", afInet6, sockStream|syscall.SOCK_CLOEXEC, 6), want: unchanged},
			{name: "udp", do: raw("socket", afInet, sockDgram|syscall.SOCK_NONBLOCK, 17), want: unchanged},
			{name: "ping", do: raw("socket", afInet, sockDgram, 1), want: unchanged},
			{name: "netlink route", do: raw("socket", afNetlink, sockRaw, 0), want: unchanged},
			{name: "unix datagram", do: raw("socket", afUnix, sockDgram, 0), want: unchanged},
			{name: "netlink generic", do: raw("socket", afNetlink, sockRaw, generic), want: syscall.EACCES},
			{name: "raw", do: raw("socket", afInet, sockRaw, 1), want: syscall.EPERM, needs: capNetRaw},
			{name: "packet", do: raw("socket", syscall.AF_PACKET, sockRaw, 0), want: syscall.EACCES},
			{name: "packet by AF_INET", do: raw("socket", afInet, sockPacket, 0), want: syscall.EPERM, needs: capNetRaw},
			{name: "vsock", do: raw("socket", 40, sockStream, bad), want: syscall.EACCES},
			{name: "inet pair", do: raw("socketpair", afInet, sockStream, 0, address(&pair)), want: syscall.EACCES},
			{name: "seqpacket", do: raw("socket", afInet, 5, 0), want: syscall.EPROTONOSUPPORT},
			{name: "mptcp", do: unlessMissing("socket", afInet, sockStream, mptcp), want: syscall.EPROTONOSUPPORT},
		},
	)
}

// unlessMissing makes a call that the kernel may be built without: it then
// answers EPROTONOSUPPORT itself, which a control must not be.
func unlessMissing(name string, args ...uintptr) func() syscall.Errno {
	do := raw(name, args...)
	calls := 0
	return func() syscall.Errno {
		calls++
		if errno := do(); errno != syscall.EPROTONOSUPPORT || calls > 1 {
			return errno
		}
		return syscall.EINVAL
	}
}

func networkProbes() []probe {
	return []probe{
		{name: "unix stream", do: raw("socket", afUnix, sockStream, 0), want: unchanged},
		{name: "unix stream, high half set", do: raw("socket", high|afUnix, sockStream, 0), want: unchanged},
		{name: "unix seqpacket", do: raw("socket", afUnix, 5|syscall.SOCK_CLOEXEC, 0), want: unchanged},
		{name: "unix datagram", do: raw("socket", afUnix, sockDgram, 0), want: syscall.EACCES},
		{name: "unix datagram, flags", do: raw("socket", afUnix, sockDgram|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0), want: syscall.EACCES},
		{name: "unix datagram, high half set", do: raw("socket", high|afUnix, high|sockDgram, 0), want: syscall.EACCES},
		{name: "unix raw, a datagram socket", do: raw("socket", afUnix, sockRaw, 0), want: syscall.EACCES},
		{name: "unix datagram pair", do: closingPair(afUnix, sockDgram), want: syscall.EACCES},
		{name: "unix stream pair", do: closingPair(afUnix, sockStream), want: unchanged},
		{name: "tcp", do: raw("socket", afInet, sockStream, 0), want: syscall.EACCES},
		{name: "tcp, high half set", do: raw("socket", high|afInet, sockStream, 0), want: syscall.EACCES},
		{name: "tcp6", do: raw("socket", afInet6, sockStream, 0), want: syscall.EACCES},
		{name: "udp", do: raw("socket", afInet, sockDgram, 0), want: syscall.EACCES},
		{name: "mptcp", do: raw("socket", afInet, sockStream, 262), want: syscall.EACCES},
		{name: "raw", do: raw("socket", afInet, sockRaw, 1), want: syscall.EACCES},
		{name: "packet", do: raw("socket", syscall.AF_PACKET, sockRaw, 0), want: syscall.EACCES},
		{name: "netlink", do: raw("socket", afNetlink, sockRaw, 0), want: syscall.EACCES},
		{name: "alg", do: raw("socket", 38, 5, 0), want: syscall.EACCES},
		{name: "vsock", do: raw("socket", 40, sockStream, 0), want: syscall.EACCES},
		{name: "no such family", do: raw("socket", 250, sockStream, 0), want: syscall.EACCES},
	}
}

func closingPair(domain, kind uintptr) func() syscall.Errno {
	do := raw("socketpair", domain, kind, 0, address(&pair))
	return func() syscall.Errno {
		errno := do()
		if errno == 0 {
			syscall.Close(int(pair[0]))
			syscall.Close(int(pair[1]))
		}
		return errno
	}
}

func currentLimit() (l syscall.Rlimit) {
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		panic(err)
	}
	return l
}

func processProbes() []probe {
	self, nofile := uintptr(os.Getpid()), uintptr(syscall.RLIMIT_NOFILE)
	iov := [2]uintptr{address(&memory), 8}
	vector = iov
	return []probe{
		{name: "own limit", do: raw("prlimit64", 0, nofile, address(&limitNew), 0), want: unchanged},
		{name: "read another's limit", do: raw("prlimit64", self, nofile, 0, address(&limitOld)), want: unchanged},
		{name: "set another's limit", do: raw("prlimit64", self, nofile, address(&limitNew), 0), want: syscall.EPERM},
		{name: "own priority", do: raw("setpriority", 0, 0, 0), want: unchanged},
		{name: "another's priority", do: raw("setpriority", 0, self, 0), want: syscall.EPERM},
		{name: "priority of a group", do: raw("setpriority", 1, 999999, 19), want: syscall.EPERM},
		{name: "own io priority", do: raw("ioprio_set", 1, 0, 2<<13|4), want: unchanged},
		{name: "another's io priority", do: raw("ioprio_set", 1, self, 2<<13|4), want: syscall.EPERM},
		{name: "io priority of a group", do: raw("ioprio_set", 2, 999999, 2<<13|4), want: syscall.EPERM},
		{name: "own scheduler", do: raw("sched_setscheduler", 0, 0, address(&parameter)), want: unchanged},
		{name: "another's scheduler", do: raw("sched_setscheduler", self, 0, address(&parameter)), want: syscall.EPERM},
		{name: "another's parameters", do: raw("sched_setparam", self, address(&parameter)), want: syscall.EPERM},
		{name: "own attributes", do: raw("sched_setattr", 0, address(&attributes), 0), want: unchanged},
		{name: "another's attributes", do: raw("sched_setattr", self, address(&attributes), 0), want: syscall.EPERM},
		{name: "another's affinity", do: raw("sched_setaffinity", self, 8, address(&mask)), want: unchanged},
		{name: "another's memory", do: raw("process_vm_readv", self, address(&vector), 1, address(&vector), 1, 0), want: syscall.ENOSYS},
		{name: "write another's memory", do: raw("process_vm_writev", self, address(&vector), 1, address(&vector), 1, 0), want: syscall.ENOSYS},
		{name: "move another's pages", do: raw("move_pages", 999999999, 0, 0, 0, 0, 0), want: syscall.EPERM},
		{name: "compare processes", do: raw("kcmp", self, self, 1, 0, 0), want: unchanged},
		{name: "trace nobody", do: raw("ptrace", 16, 999999999, 0, 0), want: unchanged},
	}
}

// namespaceProbes ask for what the kernel refuses to do at once, with EINVAL:
// unshare(CLONE_NEWUSER) in a process of several threads (unshare(2), ERRORS),
// and CLONE_THREAD without CLONE_SIGHAND (clone(2), ERRORS).
func namespaceProbes() []probe {
	const thread = 0x10000
	probes := []probe{
		{name: "unshare files, fs, semaphores", do: raw("unshare", 0x200|0x400|0x40000), want: unchanged},
		{name: "unshare with high bits", do: raw("unshare", high), want: syscall.EPERM},
		{name: "unshare with a free bit", do: raw("unshare", 1), want: syscall.EPERM},
		{name: "unshare time", do: raw("unshare", 0x80|1), want: syscall.EPERM},
		{name: "unshare into no mounts", do: raw("unshare", 0x00100000|1), want: syscall.EPERM},
		{name: "clone that cannot be", do: raw("clone", thread), want: unchanged},
		{name: "clone with exit signal 0x80", do: raw("clone", thread|0x80), want: unchanged},
		{name: "clone with high bits", do: raw("clone", high<<4|thread), want: unchanged},
		{name: "clone3", do: raw("clone3", 0, 0), want: syscall.ENOSYS},
		{name: "setns", do: raw("setns", bad, 0), want: syscall.EPERM},
	}
	for _, ns := range []struct {
		name string
		flag uintptr
	}{
		{"mount", 0x20000}, {"cgroup", 0x02000000}, {"uts", 0x04000000}, {"ipc", 0x08000000},
		{"user", 0x10000000}, {"pid", 0x20000000}, {"net", 0x40000000},
	} {
		probes = append(probes,
			probe{name: "clone " + ns.name, do: raw("clone", thread|ns.flag), want: syscall.EPERM},
			probe{name: "unshare " + ns.name, do: raw("unshare", 0x10000000|ns.flag), want: syscall.EPERM})
	}
	return probes
}

func kernelProbes() []probe {
	const query, noRandomize, readImpliesExec = 0xffffffff, 0x0040000, 0x0400000
	probes := []probe{
		{name: "io_uring_setup", do: raw("io_uring_setup", 0, 0), want: syscall.ENOSYS},
		{name: "io_uring_enter", do: raw("io_uring_enter", bad, 0, 0, 0, 0, 0), want: syscall.ENOSYS},
		{name: "io_uring_register", do: raw("io_uring_register", bad, 0, 0, 0), want: syscall.ENOSYS},
		{name: "keyctl", do: raw("keyctl", 0, bad, 0), want: syscall.ENOSYS},
		{name: "add_key", do: raw("add_key", 0, 0, 0, 0, 0), want: syscall.ENOSYS},
		{name: "request_key", do: raw("request_key", 0, 0, 0, 0), want: syscall.ENOSYS},
		{name: "perf_event_open", do: raw("perf_event_open", 0, 0, 0, bad, bad), want: syscall.EACCES},
		{name: "userfaultfd", do: raw("userfaultfd", 1|1<<20), want: syscall.EPERM},
		{name: "bpf", do: raw("bpf", 0, 0, 1<<20), want: syscall.EPERM, needs: capSysAdmin},
		{name: "init_module", do: raw("init_module", 0, 0, 0), want: syscall.EPERM, needs: capSysModule},
		{name: "finit_module", do: raw("finit_module", bad, 0, 0), want: syscall.EPERM, needs: capSysModule},
		{name: "delete_module", do: raw("delete_module", bad, 0), want: syscall.EPERM, needs: capSysModule},
		{name: "reboot", do: raw("reboot", 0, 0, 0, 0), want: syscall.EPERM, needs: capSysBoot},
		{name: "mount", do: raw("mount", bad, bad, bad, 0, 0), want: syscall.EPERM},
		{name: "umount2", do: raw("umount2", 0, bad), want: syscall.EPERM},
		{name: "pivot_root", do: raw("pivot_root", bad, bad), want: syscall.EPERM, needs: capSysAdmin},
		{name: "chroot", do: raw("chroot", bad), want: syscall.EPERM},
		{name: "open_tree", do: raw("open_tree", bad, bad, bad), want: syscall.EPERM},
		{name: "fsopen", do: raw("fsopen", bad, bad), want: syscall.EPERM, needs: capSysAdmin},
		{name: "move_mount", do: raw("move_mount", bad, 0, bad, 0, 0x1000), want: syscall.EPERM, needs: capSysAdmin},
		{name: "open_by_handle_at", do: raw("open_by_handle_at", bad, bad, 0), want: syscall.EPERM, needs: capDacReadSearch},
		{name: "name_to_handle_at", do: raw("name_to_handle_at", bad, bad, bad, bad, 0), want: unchanged},
		{name: "swapon", do: raw("swapon", bad, 1<<30), want: syscall.EPERM, needs: capSysAdmin},
		{name: "settimeofday", do: raw("settimeofday", bad, 0), want: syscall.EPERM},
		{name: "clock_settime", do: raw("clock_settime", 999, bad), want: syscall.EPERM},
		{name: "adjtimex", do: raw("adjtimex", bad), want: unchanged},
		{name: "sethostname", do: raw("sethostname", bad, bad), want: syscall.EPERM, needs: capSysAdmin},
		{name: "fanotify_init", do: raw("fanotify_init", bad, 0), want: syscall.EPERM, needs: capSysAdmin},
		{name: "syslog", do: raw("syslog", 99, 0, 0), want: syscall.EPERM, needs: capSysAdmin},
		{name: "quotactl", do: raw("quotactl", bad, bad, 0, 0), want: syscall.EPERM},
		{name: "persona query", do: raw("personality", query), want: unchanged},
		{name: "persona without randomization", do: persona(noRandomize), want: unchanged},
		{name: "persona with executable memory", do: persona(readImpliesExec), want: syscall.EPERM},
		{name: "seccomp with bad operation", do: raw("seccomp", 99, 0, 0), want: unchanged},
		{name: "seccomp with every known flag", do: raw("seccomp", 1, 0x3f, bad), want: unchanged},
		{name: "unknown number", do: func() syscall.Errno {
			_, _, errno := syscall.RawSyscall(2000, 0, 0, 0)
			return errno
		}, want: unchanged},
	}
	if has("iopl") {
		probes = append(probes,
			probe{name: "iopl", do: raw("iopl", 99), want: syscall.EPERM},
			probe{name: "ioperm", do: raw("ioperm", bad, 2, 1), want: syscall.EPERM},
			probe{name: "modify_ldt", do: raw("modify_ldt", 0, 0, 0), want: syscall.ENOSYS})
	}
	return probes
}

// persona sets a personality, and takes it back.
func persona(p uintptr) func() syscall.Errno {
	set, reset := raw("personality", p), raw("personality", 0)
	return func() syscall.Errno {
		errno := set()
		if err := reset(); err != 0 {
			panic(err)
		}
		return errno
	}
}

func terminalProbes() []probe {
	return []probe{
		{name: "TCGETS", do: raw("ioctl", bad, 0x5401, 0), want: unchanged},
		{name: "TIOCSTI", do: raw("ioctl", bad, 0x5412, 0), want: syscall.EPERM},
		{name: "TIOCSTI, high half set", do: raw("ioctl", bad, high|0x5412, 0), want: syscall.EPERM},
		{name: "TIOCLINUX", do: raw("ioctl", bad, 0x541c, 0), want: syscall.EPERM},
		{name: "TIOCSETD", do: raw("ioctl", bad, 0x5423, 0), want: syscall.EPERM},
		{name: "TIOCGWINSZ", do: raw("ioctl", bad, 0x5413, 0), want: unchanged},
	}
}

func ipcProbes(want syscall.Errno) []probe {
	return []probe{
		{name: "shmget", do: raw("shmget", 0, 0, 0), want: want},
		{name: "shmat", do: raw("shmat", bad, 0, 0), want: want},
		{name: "shmctl", do: raw("shmctl", bad, 99, 0), want: want},
		{name: "semget", do: raw("semget", 0, bad, 0), want: want},
		{name: "semop", do: raw("semop", bad, 0, 0), want: want},
		{name: "msgget", do: raw("msgctl", bad, 99, 0), want: want},
		{name: "msgsnd", do: raw("msgsnd", bad, 0, bad, 0), want: want},
		{name: "mq_open", do: raw("mq_open", bad, 0, 0, 0), want: want},
		{name: "mq_unlink", do: raw("mq_unlink", bad), want: want},
	}
}

// metadataProbes change a real file where that is simple.
func metadataProbes(want syscall.Errno, file uintptr) []probe {
	const atCwd = ^uintptr(99) // AT_FDCWD, -100
	probes := []probe{
		{name: "fchmodat", do: raw("fchmodat", atCwd, file, 0o600), want: want},
		{name: "fchownat", do: raw("fchownat", atCwd, file, bad, bad, 0), want: want},
		{name: "utimensat", do: raw("utimensat", atCwd, file, 0, 0), want: want},
		{name: "fchmod", do: raw("fchmod", bad, 0), want: want},
		{name: "fchown", do: raw("fchown", bad, 0, 0), want: want},
		{name: "setxattr", do: raw("setxattr", file, bad, 0, 0, 0), want: want},
		{name: "lsetxattr", do: raw("lsetxattr", file, bad, 0, 0, 0), want: want},
		{name: "fsetxattr", do: raw("fsetxattr", bad, bad, 0, 0, 0), want: want},
		{name: "removexattr", do: raw("removexattr", file, bad), want: want},
		{name: "lremovexattr", do: raw("lremovexattr", file, bad), want: want},
		{name: "fremovexattr", do: raw("fremovexattr", bad, bad), want: want},
		{name: "fchmodat2", do: raw("fchmodat2", bad, bad, 0, bad), want: want},
		{name: "setxattrat", do: raw("setxattrat", bad, bad, bad, bad, bad, 0), want: want},
		{name: "file_setattr", do: raw("file_setattr", bad, bad, bad, 0, 0), want: want},
	}
	if has("chmod") {
		probes = append(probes,
			probe{name: "chmod", do: raw("chmod", file, 0o600), want: want},
			probe{name: "chown", do: raw("chown", file, bad, bad), want: want},
			probe{name: "lchown", do: raw("lchown", file, bad, bad), want: want},
			probe{name: "utime", do: raw("utime", file, 0), want: want},
			probe{name: "utimes", do: raw("utimes", file, 0), want: want},
			probe{name: "futimesat", do: raw("futimesat", atCwd, file, 0), want: want})
	}
	return probes
}

// fileFlagProbes ask with a descriptor for reading, which is enough.
func fileFlagProbes(want syscall.Errno, file *byte) []probe {
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, ^uintptr(99), address(file), syscall.O_RDONLY, 0, 0, 0)
	if errno != 0 {
		panic(errno)
	}
	return []probe{
		{name: "FS_IOC_GETFLAGS", do: raw("ioctl", fd, 0x80086601, address(&fileFlags)), want: unchanged},
		{name: "FS_IOC_SETFLAGS", do: raw("ioctl", fd, 0x40086602, bad), want: want},
		{name: "FS_IOC_FSSETXATTR", do: raw("ioctl", fd, 0x401c5820, bad), want: want},
		{name: "FS_IOC_ENABLE_VERITY", do: raw("ioctl", bad, 0x40806685, 0), want: want},
		{name: "BTRFS_IOC_SUBVOL_CREATE", do: raw("ioctl", bad, 0x5000940e, 0), want: want},
	}
}

func truncateProbes(want, want2 syscall.Errno, file uintptr) []probe {
	const atCwd = ^uintptr(99)
	const wronly, rdwr, trunc = syscall.O_WRONLY, syscall.O_RDWR, syscall.O_TRUNC
	probes := []probe{
		{name: "truncate", do: raw("truncate", file, 3), want: want},
		{name: "openat for reading", do: raw("openat", atCwd, file, 0), want: unchanged},
		{name: "openat for writing, truncating", do: raw("openat", atCwd, file, wronly|trunc), want: unchanged},
		{name: "openat for both, truncating", do: raw("openat", atCwd, file, rdwr|trunc), want: unchanged},
		{name: "openat for reading, truncating", do: raw("openat", atCwd, file, trunc), want: want},
		{name: "openat, high half set", do: raw("openat", atCwd, file, high|trunc), want: want},
		{name: "openat for ioctl, truncating", do: raw("openat", atCwd, file, 3|trunc), want: want},
		{name: "openat2", do: raw("openat2", atCwd, file, 0, 0), want: want2},
	}
	if has("open") {
		probes = append(probes,
			probe{name: "open for reading, truncating", do: raw("open", file, trunc), want: want},
			probe{name: "open for reading", do: raw("open", file, 0), want: unchanged})
	}
	return probes
}

func concat(lists ...[]probe) (all []probe) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
