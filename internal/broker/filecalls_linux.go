// SPDX-License-Identifier: Apache-2.0

package broker

import "syscall"

// nrOpenat2 has the same number on every architecture (Linux 5.6).
const nrOpenat2 = 437

// commonFileCalls are the calls that are handed over because Landlock's rules
// can't say what the tree says. Landlock covers each of them, so the kernel
// may decide where the broker has nothing to do; a call that it does not
// cover must never come to this table.
func commonFileCalls() map[int32]call {
	return map[int32]call{
		syscall.SYS_OPENAT:    {"openat", openat},
		nrOpenat2:             {"openat2", openat2},
		syscall.SYS_TRUNCATE:  {"truncate", truncate},
		syscall.SYS_MKDIRAT:   {"mkdirat", mkdirat},
		syscall.SYS_MKNODAT:   {"mknodat", mknodat},
		syscall.SYS_SYMLINKAT: {"symlinkat", symlinkat},
		syscall.SYS_LINKAT:    {"linkat", linkat},
		syscall.SYS_UNLINKAT:  {"unlinkat", unlinkat},
		syscall.SYS_RENAMEAT:  {"renameat", renameat},
		nrRenameat2:           {"renameat2", renameat2},
		syscall.SYS_BIND:      {"bind", bind},
		syscall.SYS_EXECVE:    {"execve", execve},
		nrExecveat:            {"execveat", execveat},
	}
}
