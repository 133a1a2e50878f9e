// SPDX-License-Identifier: Apache-2.0

package seccomp

// filesRules are those of the calls that a broker takes over where the path
// tree says what Landlock rules can't.
func filesRules(f Files) []rule {
	switch f {
	case FilesWrites:
		return filesWrites
	case FilesAll:
		return filesAll
	}
	return nil
}

const (
	filesReason = "a place inside a granted folder has less than it, which no Landlock rule can say"
	filesSource = "landlock(7): a rule holds for the whole hierarchy beneath its object"

	// opensWriting are the flags of open(2) that change something: O_WRONLY,
	// O_RDWR, O_CREAT, O_TRUNC and __O_TMPFILE, alike on both architectures.
	opensWriting = 0x1 | 0x2 | 0x40 | 0x200 | 0x400000
)

// filesChanging are the calls that make, move or remove names.
var filesChanging = rule{
	calls: []call{
		callCreat, callTruncate, callMkdir, callMkdirat, callMknod, callMknodat, callSymlink, callSymlinkat,
		callLink, callLinkat, callUnlink, callUnlinkat, callRmdir, callRename, callRenameat, callRenameat2, callBind,
	},
	then: Notify, reason: filesReason, source: filesSource,
}

// filesOpenat2: its flags are in memory.
var filesOpenat2 = rule{
	calls: []call{callOpenat2}, then: Notify,
	reason: filesReason, source: filesSource,
}

var filesWrites = []rule{
	filesChanging, filesOpenat2,
	{
		calls: []call{callOpen}, when: "flags change something", checks: []check{{word: arg1, mask: opensWriting, op: anyBit}},
		then: Notify, reason: filesReason, source: filesSource,
	},
	{
		calls: []call{callOpenat}, when: "flags change something", checks: []check{{word: arg2, mask: opensWriting, op: anyBit}},
		then: Notify, reason: filesReason, source: filesSource,
	},
}

var filesAll = []rule{
	filesChanging, filesOpenat2,
	{
		calls: []call{callOpen, callOpenat},
		then:  Notify, reason: filesReason, source: filesSource,
	},
	{
		calls: []call{callExecve, callExecveat}, then: Notify,
		reason: "executes what was made beside a place that may not be read, and so has no rule; the kernel goes on and decides",
		source: filesSource,
	},
}

// ownerRules close ways in which an open descriptor acts on others, or on a file
// that it may only read.
var ownerRules = []rule{
	{
		calls: []call{callFcntl}, when: "F_SETOWN with a process group",
		checks: []check{{word: arg1, values: []uint32{8}}, {word: arg2, mask: 0x80000000, op: anyBit}},
		errno:  EPERM,
		reason: "signals a process group, which may hold processes outside, past the signal scope of older kernels",
		source: "fcntl(2), F_SETOWN; commit 4b80320ca7ed (Linux 7.2) makes Landlock look at each process of the group",
	},
	{
		calls: []call{callFcntl}, when: "F_SETOWN_EX",
		checks: []check{{word: arg1, values: []uint32{15}}},
		errno:  EPERM,
		reason: "may name a process group, in memory, where a filter cannot look; F_SETOWN does the same for a process",
		source: "fcntl(2), F_SETOWN_EX",
	},
	{
		calls: []call{callIoctl}, when: "FIOSETOWN, SIOCSPGRP",
		checks: []check{{word: arg1, values: []uint32{0x8901, 0x8902}}},
		errno:  EPERM,
		reason: "may name a process group, in memory, where a filter cannot look; F_SETOWN does the same for a process",
		source: "socket(7), SIOCSPGRP",
	},
	{
		calls: []call{callFcntl}, when: "F_SETLEASE",
		checks: []check{{word: arg1, values: []uint32{1024}}},
		errno:  EACCES,
		reason: "holds up others who open a file, although it is only granted for reading",
		source: "fcntl(2), \"Leases\": a lease breaker waits up to /proc/sys/fs/lease-break-time",
	},
	{
		calls: []call{callFcntl}, when: "F_SET_RW_HINT",
		checks: []check{{word: arg1, values: []uint32{1036}}},
		errno:  EINVAL,
		reason: "changes metadata of a file that is open for reading only; kernels before 4.13 don't know it, and programs go on without",
		source: "fcntl(2), \"File read/write hints\"; fcntl_set_rw_hint in fs/fcntl.c",
	},
}
