// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"strconv"
	"syscall"
)

// landlock fills in what the kernel says of Landlock.
func (h host) landlock(f *Facts) {
	f.Landlock = Result{Feature: featureIn(quickFeatures, FeatLandlock)}
	abi, err := h.landlockABI()
	if err != nil || abi < 1 {
		f.Landlock.Err = err
		f.Landlock.Verdict, f.Landlock.Detail = landlockRefusal(err)
		return
	}
	f.ABI = abi
	f.Rights = RightsOf(abi)
	f.Landlock.Verdict = Yes
	f.Landlock.Detail = "ABI " + strconv.Itoa(abi)
	// A kernel that can't be asked answers EINVAL: nothing known as fixed.
	if mask, err := h.landlockErrata(); err == nil {
		f.Errata = Errata(mask)
	}
}

// landlockRefusal tells apart the reasons why a kernel does not name an ABI
// (landlock_create_ruleset(2), ERRORS). The kernel itself never answers EPERM
// or EACCES to this question, so those come from a seccomp filter.
func landlockRefusal(err error) (Verdict, string) {
	switch {
	case errors.Is(err, syscall.EOPNOTSUPP):
		return No, "built into the kernel, but not among the security modules started at boot"
	case errors.Is(err, syscall.ENOSYS):
		return No, "not built into the kernel, or hidden by a seccomp filter"
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		return No, "refused by a seccomp filter on this process"
	}
	return Unknown, "the kernel gave no answer that is known"
}
