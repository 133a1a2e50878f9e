// SPDX-License-Identifier: Apache-2.0

package seccomp

// Supervisor builds the filter of the supervisor's own process, once the
// launcher is started: what it may do is listed, everything else fails with
// EPERM. It fails with *ArchError.
//
// Not by killing: an errno comes out as a fault in the receipt, and the calls
// of the command that it concerns are refused.
func Supervisor(archName string) (*Program, error) {
	a, err := parseArch(archName)
	if err != nil {
		return nil, err
	}
	return &Program{raw: assemble(a, [][]rule{supervisorChecks, {supervisorRest()}}, RefusalsBare)}, nil
}

// supervisorRest refuses what no list allows.
func supervisorRest() rule {
	var listed [len(calls)]bool
	for _, list := range [...][]call{runtimeCalls, runCalls, brokerCalls} {
		for _, c := range list {
			listed[c] = true
		}
	}
	r := rule{errno: EPERM, calls: make([]call, 0, len(calls))}
	for c := range call(len(calls)) {
		if !listed[c] {
			r.calls = append(r.calls, c)
		}
	}
	return r
}

// runtimeCalls are what Go's runtime, and packages os and syscall below what
// the supervisor calls, may make at any time; where the C library is linked,
// its threads too.
var runtimeCalls = []call{
	callRead, callPread64, callWrite, callClose, callFcntl, callPipe2, callLseek,
	callMmap, callMunmap, callMprotect, callMadvise, callMincore, callBrk,
	callClone, callFutex, callSchedYield, callSchedGetaffinity, callRestartSyscall, callExit, callExitGroup,
	callRtSigaction, callRtSigprocmask, callRtSigreturn, callSigaltstack, callTgkill,
	callNanosleep, callClockNanosleep, callClockGettime, callClockGetres, callGettimeofday,
	callGetpid, callGettid, callGetppid, callGetpgrp, callGetpgid,
	callGetuid, callGeteuid, callGetgid, callGetegid, callUname, callGetrandom, callPrctl,
	callClone3, callSetRobustList, callRseq,
	callEpollCreate1, callEpollCtl, callEpollWait, callEpollPwait, callEpollPwait2, callEventfd2,
}

// runCalls are what following a run to its end takes: the launch, output,
// time, the receipt, and removing the private temporary folder.
var runCalls = []call{
	callMemfdCreate, callFtruncate, callPwrite64, callWritev, callReadv,
	callSendmsg, callRecvmsg, callSendto, callRecvfrom, callShutdown,
	callWait4, callWaitid, callKill,
	callOpenat, callFstat, callNewfstatat, callStatx, callFaccessat, callFaccessat2, callGetdents64,
	callUnlinkat, callFchmodat, callFchmod, callReadlinkat,
	callSplice, callSendfile, callCopyFileRange, callTee,
	callPoll, callPpoll, callPrlimit64, callIoctl,
}

// brokerCalls are those that the broker makes for the command, and those by
// which it learns what they are about. What the broker comes to call in
// package sys must be listed; the conformance suite finds what is missing.
var brokerCalls = []call{
	callSeccomp, callCapset, callUnshare, callUmask,
	callProcessVmReadv, callProcessVmWritev, callPidfdOpen, callPidfdGetfd, callPidfdSendSignal, callKcmp,
	callOpenat2, callFstatfs, callFchdir, callDup3,
	callFchmodat2, callFchownat, callUtimensat, callTruncate,
	callSetxattr, callLsetxattr, callFsetxattr, callRemovexattr, callLremovexattr, callFremovexattr,
	callGetxattr, callLgetxattr, callFgetxattr, callListxattr, callLlistxattr, callFlistxattr,
	callMkdirat, callMknodat, callSymlinkat, callLinkat, callRenameat, callRenameat2,
	callInotifyAddWatch, callFlock, callConnect, callBind, callGetsockopt, callGetsockname, callGetpeername,
}

// supervisorChecks narrow some of the listed calls.
var supervisorChecks = []rule{
	{ // its flags are in memory; the C library then makes its threads by clone
		calls: []call{callClone3},
		errno: ENOSYS,
	},
	{ // threads, and no processes: nothing is executed any more
		calls:  []call{callClone},
		checks: []check{{word: arg0, mask: cloneThread, op: in, values: []uint32{0}}},
		errno:  EPERM,
	},
	{ // a worker's own umask
		calls:  []call{callUnshare},
		checks: []check{{word: arg0, op: notIn, values: []uint32{0x200}}}, // CLONE_FS
		errno:  EPERM,
	},
	{ // no code but the program's
		calls:  []call{callMmap, callMprotect},
		checks: []check{{word: arg2, mask: protExec, op: anyBit}},
		errno:  EPERM,
	},
	{ // SECCOMP_GET_NOTIF_SIZES
		calls:  []call{callSeccomp},
		checks: []check{{word: arg0, op: notIn, values: []uint32{3}}},
		errno:  EPERM,
	},
	{ // PR_SET_VMA, by which Go's runtime names its memory
		calls:  []call{callPrctl},
		checks: []check{{word: arg0, op: notIn, values: []uint32{0x53564d41}}},
		errno:  EPERM,
	},
	{ // another process's limits but RLIMIT_LOCKS, the broker's mark
		calls:  []call{callPrlimit64},
		checks: []check{{word: arg0, op: notIn, values: []uint32{0}}, {word: arg1, op: notIn, values: []uint32{10}}, {word: arg2, op: notIn, values: []uint32{0}}},
		errno:  EPERM,
	},
	{
		calls:  []call{callPrlimit64},
		checks: []check{{word: arg0, op: notIn, values: []uint32{0}}, {word: arg1, op: notIn, values: []uint32{10}}, {word: arg2High, op: notIn, values: []uint32{0}}},
		errno:  EPERM,
	},
	{
		calls:  []call{callIoctl},
		checks: []check{{word: arg1, op: notIn, values: supervisorRequests}},
		errno:  EPERM,
	},
}

const (
	cloneThread = 0x10000 // CLONE_THREAD
	protExec    = 4       // PROT_EXEC
)

// supervisorRequests: TIOCGPGRP, FS_IOC_GETFLAGS, and those of a seccomp
// listener (RECV, SEND and ADDFD have the size of their structures in them;
// linux/seccomp.h).
var supervisorRequests = []uint32{
	0x540f,
	0x40082102, // SECCOMP_IOCTL_NOTIF_ID_VALID
	0x40082104, // SECCOMP_IOCTL_NOTIF_SET_FLAGS
	0x40182103, // SECCOMP_IOCTL_NOTIF_ADDFD
	0x80086601, // FS_IOC_GETFLAGS
	0xc0182101, // SECCOMP_IOCTL_NOTIF_SEND
	0xc0502100, // SECCOMP_IOCTL_NOTIF_RECV
}
