// SPDX-License-Identifier: Apache-2.0

package seccomp

// kernelRules close interfaces that only administrators use, or whose record
// of holes is longer than their use in a sandbox. Those that Linux can be built
// or configured without answer as such a kernel does, so that callers take
// the way they have for it.
var kernelRules = []rule{
	{
		calls:  []call{callIoUringSetup, callIoUringEnter, callIoUringRegister},
		errno:  ENOSYS,
		reason: "its operations (open, connect, send, set attributes) run without passing a filter",
		source: "io_uring_setup(2); a kernel without CONFIG_IO_URING answers ENOSYS",
	},
	{
		calls:  []call{callInitModule, callFinitModule, callDeleteModule, callKexecLoad, callKexecFileLoad, callReboot},
		errno:  EPERM,
		name:   "modules",
		reason: "replaces the kernel or parts of it",
		source: "init_module(2), kexec_load(2), reboot(2): EPERM without the capability",
	},
	{
		calls:  []call{callBpf},
		errno:  EPERM,
		name:   "bpf",
		reason: "loads programs into the kernel",
		source: "bpf(2): EPERM where unprivileged use is off",
	},
	{
		calls:  []call{callPerfEventOpen},
		errno:  EACCES,
		name:   "perf",
		reason: "watches other processes and the kernel; a long record of holes",
		source: "perf_event_open(2): EACCES without CAP_PERFMON",
	},
	{
		calls:  []call{callUserfaultfd},
		errno:  EPERM,
		name:   "userfaultfd",
		reason: "stops the kernel in the middle of reading memory, the tool of choice for winning its races",
		source: "userfaultfd(2): EPERM where unprivileged use is off",
	},
	{
		calls:  []call{callFanotifyInit},
		errno:  EPERM,
		name:   "fanotify",
		reason: "tells of file accesses by processes outside the sandbox",
		source: "fanotify_init(2): EPERM without CAP_SYS_ADMIN, everywhere before Linux 5.13",
	},
	{
		calls:  []call{callKeyctl, callAddKey, callRequestKey},
		errno:  ENOSYS,
		name:   "keyrings",
		reason: "keyrings are shared with processes outside the sandbox, and hold their credentials",
		source: "keyrings(7); a kernel without CONFIG_KEYS answers ENOSYS, and callers go on without keyrings",
	},
	{
		calls:  []call{callModifyLdt},
		errno:  ENOSYS,
		name:   "ldt",
		reason: "16-bit segments, with a long record of holes",
		source: "modify_ldt(2); a kernel without CONFIG_MODIFY_LDT_SYSCALL answers ENOSYS",
	},
	{
		calls:  []call{callIopl, callIoperm},
		errno:  EPERM,
		name:   "devices",
		reason: "direct access to devices",
		source: "iopl(2), ioperm(2): EPERM without CAP_SYS_RAWIO",
	},
	{
		calls:  []call{callSyslog},
		errno:  EPERM,
		name:   "kernel-log",
		reason: "the kernel's log tells of other processes, and of addresses in the kernel",
		source: "syslog(2): EPERM where dmesg_restrict is set",
	},
	{
		calls: []call{
			callAcct, callSwapon, callSwapoff, callSethostname, callSetdomainname,
			callSettimeofday, callClockSettime, callVhangup, callQuotactl, callQuotactlFd,
		},
		errno:  EPERM,
		name:   "host",
		reason: "administers the host",
		source: "acct(2), swapon(2), sethostname(2), settimeofday(2), clock_settime(2), vhangup(2), quotactl(2): EPERM",
	},
	{
		calls:  []call{callUselib, callSysctl, callLookupDcookie, callNfsservctl},
		errno:  ENOSYS,
		reason: "obsolete, and no caller is left",
		source: "uselib(2), sysctl(2), lookup_dcookie(2), nfsservctl(2): ENOSYS where Linux no longer has them",
	},
	{
		calls:  []call{callLsmSetSelfAttr},
		errno:  EPERM,
		name:   "lsm",
		reason: "changes the security context that other security modules hold for the command",
		source: "Documentation/userspace-api/lsm.rst",
	},
	{
		calls:  []call{callSeccomp},
		when:   "flags other than the six of Linux 5.19",
		checks: []check{{word: arg1, mask: ^uint32(0x3f), op: anyBit}},
		errno:  EINVAL,
		reason: "of two filters that notify, the newer is heard: a flag that allows a second listener would pass the broker by",
		source: "seccomp(2): EINVAL for flags that the kernel does not know, EBUSY for a second listener",
	},
	{
		calls: []call{callPersonality},
		when:  "more than PER_LINUX32, UNAME26 and ADDR_NO_RANDOMIZE, and not the query 0xffffffff",
		checks: []check{
			{word: arg0, op: notIn, values: []uint32{0xffffffff}},
			{word: arg0, op: anyBit, mask: ^uint32(0x0008 | 0x0020000 | 0x0040000)},
		},
		errno:  EPERM,
		name:   "personality",
		reason: "turns off protection of memory (READ_IMPLIES_EXEC, MMAP_PAGE_ZERO); setarch and debuggers need only the three",
		source: "personality(2)",
	},
}

// terminalRules keep the command from typing into its caller's terminal.
var terminalRules = []rule{
	{
		calls:  []call{callIoctl},
		when:   "request is TIOCSTI, TIOCLINUX or TIOCSETD",
		checks: []check{{word: arg1, values: []uint32{0x5412, 0x541c, 0x5423}}},
		errno:  EPERM,
		name:   "terminal",
		reason: "puts input into the terminal, to be run by the shell outside; TIOCSETD loads line discipline drivers",
		source: "ioctl_tty(2), ioctl_console(2): EPERM; request is an unsigned int (SYSCALL_DEFINE3(ioctl), fs/ioctl.c)",
	},
}
