// SPDX-License-Identifier: Apache-2.0

package probe

// Features that only a full probe looks at, each by a real attempt.
const (
	FeatDomain      Name = "landlock.domain"
	FeatListener    Name = "seccomp.listener"
	FeatSyncWakeUp  Name = "seccomp.sync_wake_up"
	FeatChildMemory Name = "ptrace.child_memory"
	FeatProc        Name = "proc"
	FeatCgroup      Name = "cgroup.delegated"
	FeatUserNS      Name = "namespace.user"
	FeatUserMap     Name = "namespace.user_map"
	FeatMountNS     Name = "namespace.mount"
	FeatPIDNS       Name = "namespace.pid"
	FeatMountProc   Name = "namespace.mount_proc"
	FeatNetNS       Name = "namespace.network"
)

var attemptFeatures = []Feature{
	{FeatDomain, "5.13", "a process restricts itself and is denied"},
	{FeatListener, "5.19", "a filter gets a supervisor of its own"},
	{FeatSyncWakeUp, "6.6", "the supervisor answers without waking another processor"},
	{FeatChildMemory, "3.2", "a supervisor reads the memory of its descendant"},
	{FeatProc, "", "/proc shows a process to itself"},
	{FeatCgroup, "4.5", "a control group of our own bounds memory and processes of a whole tree"},
	{FeatUserNS, "3.8", "an unprivileged process makes a user namespace"},
	{FeatUserMap, "3.8", "it is root in there"},
	{FeatMountNS, "3.8", "it arranges mounts in there"},
	{FeatPIDNS, "3.8", "it makes a pid namespace in there"},
	{FeatMountProc, "3.8", "it mounts /proc for that pid namespace"},
	{FeatNetNS, "3.8", "it has a loopback network of its own in there"},
}

// callName is the name of the feature "this system call can be made".
func callName(call string) Name { return Name("call." + call) }

// callFeatures describes the calls of sys.Attempts.
var callFeatures = []Feature{
	{"call.landlock_create_ruleset", "5.13", "restricting files"},
	{"call.landlock_add_rule", "5.13", "restricting files"},
	{"call.landlock_restrict_self", "5.13", "restricting files"},
	{"call.seccomp", "3.17", "refusing system calls"},
	{"call.prctl", "3.5", "no_new_privs, and keeping orphans as children"},
	{"call.memfd_create", "3.17", "handing the plan to the launcher in a sealed file"},
	{"call.close_range", "5.9", "keeping descriptors from the command"},
	{"call.openat2", "5.6", "pinning a path that nobody can redirect"},
	{"call.pidfd_open", "5.3", "naming a process that can't be confused with a later one"},
	{"call.pidfd_send_signal", "5.1", "ending exactly the process that was meant"},
	{"call.pidfd_getfd", "5.6", "the broker acts on a command's own descriptor"},
	{"call.process_vm_readv", "3.2", "the broker reads the path that a command names"},
}
