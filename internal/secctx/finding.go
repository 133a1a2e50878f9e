// SPDX-License-Identifier: Apache-2.0

package secctx

// Finding is one difference that can matter.
type Finding struct {
	Cause Cause `json:"cause"`
	// Object is what differs, where the cause alone does not say it: a
	// capability, a path, a limit's name.
	Object string `json:"object,omitempty"`
	// A and B are what each context has; empty is nothing.
	A string `json:"a,omitempty"`
	B string `json:"b,omitempty"`
	// Why says in a sentence how this can decide.
	Why string `json:"why"`
}

// Cause is a stable code of a kind of difference.
type Cause string

// The causes, most telling first: findings are shown in this order. What is
// about a path that was asked for comes before what may have nothing to do
// with it, and what takes away before what is merely different.
const (
	CausePathEnd        Cause = "path.end"
	CausePathObject     Cause = "path.object"
	CausePathMount      Cause = "path.mount"
	CausePathOwner      Cause = "path.owner"
	CausePathMode       Cause = "path.mode"
	CausePathACL        Cause = "path.acl"
	CausePathAttributes Cause = "path.attributes"
	CausePathLabel      Cause = "path.label"
	CausePathAccess     Cause = "path.access"

	CauseUser            Cause = "identity.user"
	CauseGroup           Cause = "identity.group"
	CauseGroupNumber     Cause = "identity.group_number"
	CauseGroupLost       Cause = "identity.group_lost"
	CauseUserNamespace   Cause = "namespace.user"
	CauseIDMap           Cause = "user_namespace.map"
	CauseSetgroups       Cause = "user_namespace.setgroups"
	CauseCapability      Cause = "capability.lost"
	CauseNoNewPrivs      Cause = "no_new_privs"
	CauseSeccomp         Cause = "seccomp"
	CauseLandlock        Cause = "landlock"
	CauseLabel           Cause = "label"
	CauseRoot            Cause = "root"
	CauseMountMissing    Cause = "mount.missing"
	CauseMountOptions    Cause = "mount.options"
	CauseMountOther      Cause = "mount.other"
	CauseMountAdded      Cause = "mount.added"
	CauseNamespace       Cause = "namespace"
	CauseBounding        Cause = "capability.bounding"
	CauseSecurebits      Cause = "securebits"
	CauseLimit           Cause = "limit"
	CauseCgroup          Cause = "cgroup"
	CauseCgroupRefused   Cause = "cgroup.refused"
	CauseSocket          Cause = "socket"
	CauseEnvMissing      Cause = "environment.missing"
	CauseEnvDiffers      Cause = "environment.differs"
	CauseCwd             Cause = "cwd"
	CauseTerminal        Cause = "terminal"
	CauseDescriptor      Cause = "descriptor"
	CauseUmask           Cause = "umask"
	CauseSysctl          Cause = "sysctl"
	CauseKernel          Cause = "kernel"
	CauseGroupGained     Cause = "identity.group_gained"
	CauseCapabilityExtra Cause = "capability.gained"
	CauseEnvAdded        Cause = "environment.added"
)

// order is the order of the constants.
var order = [...]Cause{
	CausePathEnd, CausePathObject, CausePathMount, CausePathOwner, CausePathMode, CausePathACL, CausePathAttributes,
	CausePathLabel, CausePathAccess,
	CauseUser, CauseGroup, CauseGroupNumber, CauseGroupLost, CauseUserNamespace, CauseIDMap, CauseSetgroups,
	CauseCapability, CauseNoNewPrivs, CauseSeccomp, CauseLandlock, CauseLabel, CauseRoot,
	CauseMountMissing, CauseMountOptions, CauseMountOther, CauseMountAdded, CauseNamespace,
	CauseBounding, CauseSecurebits, CauseLimit, CauseCgroup, CauseCgroupRefused, CauseSocket,
	CauseEnvMissing, CauseEnvDiffers, CauseCwd, CauseTerminal, CauseDescriptor, CauseUmask, CauseSysctl, CauseKernel,
	CauseGroupGained, CauseCapabilityExtra, CauseEnvAdded,
}

// Causes returns all codes, most telling first.
func Causes() []Cause { return append([]Cause(nil), order[:]...) }

func rank(c Cause) int {
	for i, o := range order {
		if o == c {
			return i
		}
	}
	return len(order)
}
