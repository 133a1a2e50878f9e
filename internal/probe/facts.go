// SPDX-License-Identifier: Apache-2.0

package probe

// Facts is what a run must know of its host before it builds a sandbox.
type Facts struct {
	// Kernel is the running kernel's release, for receipts and messages.
	Kernel string `json:"kernel"`

	// Landlock is Yes if rulesets can be made; ABI is then at least 1, and
	// Rights is what that ABI offers. Otherwise ABI is 0, Rights is empty and
	// the result says why.
	Landlock Result `json:"landlock"`
	ABI      int    `json:"landlock_abi"`
	Rights   Rights `json:"landlock_rights"`
	// Errata is the set of fixed Landlock errata, empty on a kernel that
	// can't be asked. No erratum takes a right away: see Erratum.
	Errata    Errata `json:"landlock_errata"`
	errataErr error  // why the mask could not be had

	// SeccompFilter: filters can be installed.
	SeccompFilter Result `json:"seccomp_filter"`
	// UserNotif: a filter can hand calls to a supervisor. Whether another
	// listener is in the way already shows only when one is installed
	// (EBUSY); Full tries it.
	UserNotif Result `json:"user_notif"`
	// WaitKillable: SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV is known.
	// Without it a signal can make a brokered call happen twice.
	WaitKillable Result `json:"wait_killable"`
	// NotifSizes are the sizes of the notification structures; zero unless
	// UserNotif is Yes.
	NotifSizes NotifSizes `json:"notif_sizes"`

	// PtraceScope is Yama's mode; ReadMemory is what follows from it: whether
	// a supervisor may read the memory of its descendants.
	PtraceScope PtraceScope `json:"ptrace_scope"`
	ReadMemory  Result      `json:"read_memory"`
}

// NotifSizes are the sizes in bytes of the user-notification structures as
// the running kernel knows them. A buffer must hold at least that much
// (seccomp_unotify(2), SECCOMP_IOCTL_NOTIF_RECV).
type NotifSizes struct {
	Notif    int `json:"notif"`
	Response int `json:"response"`
	Data     int `json:"data"`
}

// PtraceScope is the value of kernel.yama.ptrace_scope, or one of the two
// negative values.
type PtraceScope int

const (
	PtraceScopeUnknown PtraceScope = -2 // it could not be read
	PtraceScopeAbsent  PtraceScope = -1 // the kernel runs without Yama
	PtraceScopeClassic PtraceScope = 0  // any process of the same user
	PtraceScopeChild   PtraceScope = 1  // descendants only: enough for a supervisor
	PtraceScopeAdmin   PtraceScope = 2  // CAP_SYS_PTRACE only
	PtraceScopeNone    PtraceScope = 3  // nobody
)

// Usable tells whether the result is a proven yes.
func (r Result) Usable() bool { return r.Verdict == Yes }
