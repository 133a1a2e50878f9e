// SPDX-License-Identifier: Apache-2.0

package seccomp

// allowedRules change nothing, since a known call without a rule is allowed.
// They say why calls stay open that a reader would expect to be closed.
var allowedRules = []rule{
	{
		calls:  []call{callPtrace, callProcessMadvise, callPidfdGetfd, callKcmp},
		then:   Allow,
		reason: "debuggers are development tools; Landlock refuses to trace what is outside, and a filter sees what a tracer makes of a call",
		source: "Documentation/userspace-api/landlock.rst, \"Ptrace restrictions\"; seccomp(2), SECCOMP_RET_TRACE; ptrace(2), \"Ptrace access mode checking\"",
	},
	{
		calls:  []call{callSchedSetaffinity},
		then:   Allow,
		reason: "C libraries set a thread's affinity by its number, and OpenMP programs end when that fails; outside, it slows and does not stop",
		source: "pthread_setaffinity_np(3); pthread_attr_setaffinity_np(3)",
	},
	{
		calls:  []call{callNameToHandleAt, callStatmount, callListmount, callListns},
		then:   Allow,
		reason: "reads only, within what the caller may look up",
		source: "name_to_handle_at(2), statmount(2), listmount(2)",
	},
	{
		calls:  []call{callAdjtimex, callClockAdjtime},
		then:   Allow,
		reason: "reading the clock's state is common; setting it needs CAP_SYS_TIME, and which of the two is asked for is in memory",
		source: "adjtimex(2): EPERM",
	},
	{
		calls:  []call{callSeccomp, callLandlockCreateRuleset, callLandlockAddRule, callPrctl, callArchPrctl},
		then:   Allow,
		reason: "programs confine themselves further; none of it takes a restriction back",
		source: "seccomp(2), landlock(7), prctl(2)",
	},
	{
		calls:  []call{callSetuid, callSetgid, callSetreuid, callSetregid, callSetresuid, callSetresgid, callSetgroups, callSetfsuid, callSetfsgid, callCapset},
		then:   Allow,
		reason: "no capability is left, and no_new_privs brings none back",
		source: "capabilities(7); PR_SET_NO_NEW_PRIVS in prctl(2)",
	},
	{
		calls:  []call{callMemfdCreate, callMemfdSecret, callIoSetup, callIoSubmit},
		then:   Allow,
		reason: "work on the caller's own memory and on descriptors it holds",
		source: "memfd_create(2), memfd_secret(2), io_submit(2)",
	},
	{
		calls:  []call{callMknod, callMknodat, callBind, callLink, callLinkat, callRename, callRenameat, callRenameat2, callOpenat2},
		then:   Allow,
		reason: "covered by Landlock's rights on the path",
		source: "landlock(7); Documentation/userspace-api/landlock.rst, \"Filesystem flags\"",
	},
}
