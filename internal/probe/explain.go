// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"syscall"
)

// explainUserNS adds to a refused user namespace what on this host can have
// refused it, and the narrowest change that lifts it. It returns text that
// begins with a colon, or nothing.
func explainUserNS(err error, s Settings) string {
	limit, _ := s.Get(SetMaxUserNS)
	clone, _ := s.Get(SetUserNSClone)
	switch {
	case errors.Is(err, syscall.ENOSPC) && limit == "0":
		return ": " + SetMaxUserNS + " is 0"
	case errors.Is(err, syscall.ENOSPC) && limit != "":
		return ": " + SetMaxUserNS + " is " + limit
	case errors.Is(err, syscall.EACCES) && s.HasLSM("apparmor"):
		return " (AppArmor): a profile for this one program with the rule \"userns,\" allows it"
	case errors.Is(err, syscall.EACCES) && s.HasLSM("selinux"):
		return " (SELinux): the domain of this program lacks user_namespace create"
	case errors.Is(err, syscall.EPERM) && clone == "0":
		return ": " + SetUserNSClone + " is 0"
	case errors.Is(err, syscall.EPERM) && s.filtered():
		return ", probably by the seccomp filter that is on this process"
	}
	return ""
}

// explainInside adds to a refusal inside a user namespace, that could itself
// be made, what takes away the capabilities there.
func explainInside(v Verdict, s Settings) string {
	restricted, _ := s.Get(SetAppArmorUserNS)
	switch {
	case v != No:
		return ""
	case restricted == "1":
		return ": " + SetAppArmorUserNS + " is 1, so AppArmor leaves an unprivileged user namespace" +
			" no capabilities; a profile for this one program with the rule \"userns,\" allows them"
	case s.HasLSM("apparmor"):
		label, _ := s.Get(SetAppArmorLabel)
		return ", perhaps by AppArmor (profile " + label + ")"
	case s.filtered():
		return ", probably by the seccomp filter that is on this process"
	}
	return ""
}
