// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"syscall"
)

// refusals lists the errnos that are a clear "no" to one question, and what
// each of them means there. Anything else the kernel may answer is no answer.
type refusals []struct {
	errno syscall.Errno
	means string
}

// judge turns the kernel's answer into a verdict.
func (known refusals) judge(err error) (Verdict, string) {
	if err == nil {
		return Yes, ""
	}
	if errors.Is(err, errKilled) {
		return No, errKilled.Error()
	}
	for _, r := range known {
		if errors.Is(err, r.errno) {
			return No, r.means
		}
	}
	return Unknown, "the answer tells nothing"
}

// What each answer means to a question that the kernel itself never answers
// with EPERM or EACCES: those then come from a seccomp filter.
const (
	byFilter = "refused by a seccomp filter on this process"
	notBuilt = "not built into the kernel, or hidden by a seccomp filter"
)

// landlockRefusals: landlock_create_ruleset(2), ERRORS. The kernel asks for
// no privilege to name its ABI.
var landlockRefusals = refusals{
	{syscall.EOPNOTSUPP, "built into the kernel, but not among the security modules started at boot"},
	{syscall.ENOSYS, notBuilt},
	{syscall.EPERM, byFilter},
	{syscall.EACCES, byFilter},
}

// seccompRefusals: seccomp(2), ERRORS. Privileges are looked at only after a
// program was read, and these questions give none.
var seccompRefusals = refusals{
	{syscall.EINVAL, "not known to this kernel"},
	{syscall.ENOSYS, notBuilt},
	{syscall.EPERM, byFilter},
	{syscall.EACCES, byFilter},
}
