// SPDX-License-Identifier: Apache-2.0

package seccomp

// The flags of clone(2) and unshare(2) that make namespaces. CLONE_NEWTIME
// (0x80) is not among them: in clone it is part of the exit signal.
const cloneNamespaces = 0x00020000 | // CLONE_NEWNS
	0x02000000 | // CLONE_NEWCGROUP
	0x04000000 | // CLONE_NEWUTS
	0x08000000 | // CLONE_NEWIPC
	0x10000000 | // CLONE_NEWUSER
	0x20000000 | // CLONE_NEWPID
	0x40000000 //   CLONE_NEWNET

// unshareHarmless are the flags of unshare(2) that only split what a thread
// shares with its siblings. Everything else is refused, so that a kind of
// namespace that Linux gains later is, too.
const unshareHarmless = 0x00000100 | // CLONE_VM
	0x00000200 | // CLONE_FS
	0x00000400 | // CLONE_FILES
	0x00000800 | // CLONE_SIGHAND
	0x00010000 | // CLONE_THREAD
	0x00040000 //   CLONE_SYSVSEM

const namespaceReason = "a namespace gives capabilities over what is in it, and with them most of the kernel's attack surface"

// namespaceRules keep the command in the namespaces it starts in.
var namespaceRules = []rule{
	{
		calls:  []call{callClone},
		when:   "flags ask for a namespace",
		checks: []check{{word: arg0, mask: cloneNamespaces, op: anyBit}},
		errno:  EPERM,
		name:   "namespaces",
		reason: namespaceReason,
		source: "clone(2): EPERM; only the low half of flags counts (SYSCALL_DEFINE5(clone), kernel/fork.c)",
	},
	{
		calls:  []call{callClone3},
		errno:  ENOSYS,
		reason: "its flags are in memory, where a filter cannot look for namespaces; C libraries fall back on clone",
		source: "clone(2), \"clone3()\"; glibc falls back on ENOSYS alone (sysdeps/unix/sysv/linux/clone-internal.c)",
	},
	{
		calls:  []call{callUnshare},
		when:   "flags other than FS, FILES, SYSVSEM, VM, SIGHAND, THREAD",
		checks: []check{{word: arg0, mask: ^uint32(unshareHarmless), op: anyBit}},
		errno:  EPERM,
		name:   "namespaces",
		reason: namespaceReason,
		source: "unshare(2): EPERM",
	},
	{
		calls:  []call{callUnshare},
		when:   "flags in the high half",
		checks: []check{{word: arg0High, op: notIn, values: []uint32{0}}},
		errno:  EPERM,
		name:   "namespaces",
		reason: namespaceReason,
		source: "unshare(2): flags is an unsigned long (SYSCALL_DEFINE1(unshare), kernel/fork.c)",
	},
	{
		calls:  []call{callSetns},
		errno:  EPERM,
		name:   "namespaces",
		reason: namespaceReason,
		source: "setns(2): EPERM",
	},
}

// processRules keep the command's hands off processes outside the sandbox,
// where Landlock has no hook.
var processRules = []rule{
	{
		calls:  []call{callProcessVmReadv, callProcessVmWritev},
		errno:  ENOSYS,
		reason: "the memory of other processes; debuggers fall back on ptrace, which Landlock keeps within the sandbox",
		source: "process_vm_readv(2); a kernel without CONFIG_CROSS_MEMORY_ATTACH answers ENOSYS",
	},
	{
		calls: []call{callPrlimit64},
		when:  "pid is not 0 and a new limit is given",
		checks: []check{
			{word: arg0, op: notIn, values: []uint32{0}},
			{word: arg2, op: notIn, values: []uint32{0}},
		},
		errno:  EPERM,
		name:   "processes",
		reason: "a limit of no CPU time or files kills or cripples a process outside",
		source: "prlimit(2): EPERM",
	},
	{
		calls: []call{callPrlimit64},
		when:  "pid is not 0 and a new limit is given (address above 4 GiB)",
		checks: []check{
			{word: arg0, op: notIn, values: []uint32{0}},
			{word: arg2High, op: notIn, values: []uint32{0}},
		},
		errno:  EPERM,
		name:   "processes",
		reason: "a limit of no CPU time or files kills or cripples a process outside",
		source: "prlimit(2): EPERM",
	},
	{
		calls:  []call{callSetpriority},
		when:   "which is not PRIO_PROCESS",
		checks: []check{{word: arg0, op: notIn, values: []uint32{0}}},
		errno:  EPERM,
		name:   "processes",
		reason: "a process group or a user includes processes outside",
		source: "setpriority(2): EPERM",
	},
	{
		calls:  []call{callSetpriority},
		when:   "who is not 0",
		checks: []check{{word: arg1, op: notIn, values: []uint32{0}}},
		errno:  EPERM,
		name:   "processes",
		reason: "the lowest priority starves a process outside",
		source: "setpriority(2): EPERM",
	},
	{
		calls:  []call{callIoprioSet},
		when:   "which is not IOPRIO_WHO_PROCESS",
		checks: []check{{word: arg0, op: notIn, values: []uint32{1}}},
		errno:  EPERM,
		name:   "processes",
		reason: "a process group or a user includes processes outside",
		source: "ioprio_set(2): EPERM",
	},
	{
		calls:  []call{callIoprioSet},
		when:   "who is not 0",
		checks: []check{{word: arg1, op: notIn, values: []uint32{0}}},
		errno:  EPERM,
		name:   "processes",
		reason: "the idle class starves a process outside",
		source: "ioprio_set(2): EPERM",
	},
	{
		calls:  []call{callSchedSetscheduler, callSchedSetparam, callSchedSetattr, callMigratePages, callMovePages},
		when:   "pid is not 0",
		checks: []check{{word: arg0, op: notIn, values: []uint32{0}}},
		errno:  EPERM,
		name:   "processes",
		reason: "the idle policy starves a process outside; moving its memory slows it",
		source: "sched_setscheduler(2), sched_setattr(2), migrate_pages(2), move_pages(2): EPERM",
	},
}

// ipcRules are those of a verdict for shared IPC.
func ipcRules(v Verdict) []rule {
	if v == Allow {
		return nil
	}
	return ipcRefuse
}

var ipcRefuse = []rule{
	{
		calls: []call{
			callShmget, callShmat, callShmctl,
			callSemget, callSemop, callSemtimedop, callSemctl,
			callMsgget, callMsgsnd, callMsgrcv, callMsgctl,
		},
		errno:  EACCES,
		name:   "ipc",
		reason: "objects that any process of the user reaches by number, with no path that a rule could name",
		source: "shmget(2), semop(2), msgget(2): EACCES",
	},
	{
		calls:  []call{callMqOpen, callMqUnlink},
		errno:  EACCES,
		name:   "ipc",
		reason: "queues that any process of the user reaches by a name outside the file tree",
		source: "mq_open(3), mq_unlink(3): EACCES",
	},
}
