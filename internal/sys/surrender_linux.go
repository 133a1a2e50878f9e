// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Surrender installs a filter on every thread of this process, for good, and
// closes the process's memory: to other processes of the same user, which
// could read it through /proc or trace it otherwise (PR_SET_DUMPABLE, prctl(2);
// ptrace(2), "Ptrace access mode checking"), and to dumps. What the process
// looks at in its own /proc stays open: the kernel lets a process trace itself
// before it looks at anything else (__ptrace_may_access, kernel/ptrace.c), and
// list its own descriptors (proc_fd_permission, fs/proc/fd.c).
func Surrender(filter []byte) error {
	// A second line behind being undumpable, for which a program that takes
	// dumps may not care (fs.suid_dumpable, proc_sys_fs(5)).
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl(PR_SET_DUMPABLE)", err)
	}
	runtime.LockOSThread() // no_new_privs is a thread's, and goes with the filter to the others
	defer runtime.UnlockOSThread()
	if err := SetNoNewPrivs(); err != nil {
		return err
	}
	_, err := InstallFilter(filter, unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW)
	if err != nil {
		return fmt.Errorf("cannot confine the supervisor: %w", err)
	}
	return nil
}
