// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"strings"
	"syscall"
)

// Extent says how much a blocker stops.
type Extent string

const (
	StopsEverything Extent = "every run"
	// StopsBroker: what Landlock does not cover (changes of metadata on any
	// kernel, unix sockets below ABI 9) can't be decided by the broker. Such a
	// run needs a policy that accepts it.
	StopsBroker Extent = "the broker"
)

// Blocker is one reason why the Landlock backend can't enforce a policy on
// this host. What an old ABI can't cover is no blocker: the backend's coverage
// tells of that, item by item.
type Blocker struct {
	// Feature is the answer that it rests on.
	Feature Name   `json:"feature"`
	Stops   Extent `json:"stops"`
	// Problem says what is in the way, Remedy what an administrator could
	// change. A remedy is as narrow as there is one, and never switches a
	// protection off for the whole host.
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// Blockers lists what stops the Landlock backend, as far as the facts of a
// run show it; none means that nothing is known to stop it. The report of a
// full probe finds more and has better remedies.
func (f *Facts) Blockers() []Blocker { return blockers(f, nil) }

// Blockers lists what stops the Landlock backend on this host.
func (r *Report) Blockers() []Blocker {
	out := blockers(r.Facts, r.Settings)
	for _, check := range []func(*Report) (Blocker, bool){
		domainBlocker, listenerBlocker, memoryBlocker, procBlocker, callsBlocker, brokerCallsBlocker,
	} {
		if b, stops := check(r); stops && !concerns(out, b.Feature) {
			out = append(out, b)
		}
	}
	return out
}

func blockers(f *Facts, s Settings) []Blocker {
	var out []Blocker
	for _, check := range []func(*Facts, Settings) (Blocker, bool){
		landlockBlocker, filterBlocker, notifBlocker, ptraceBlocker,
	} {
		if b, stops := check(f, s); stops {
			out = append(out, b)
		}
	}
	return out
}

func concerns(list []Blocker, name Name) bool {
	for _, b := range list {
		if b.Feature == name {
			return true
		}
	}
	return false
}

const allowLandlock = "let this container's or service's seccomp profile allow landlock_create_ruleset," +
	" landlock_add_rule and landlock_restrict_self"

func landlockBlocker(f *Facts, s Settings) (Blocker, bool) {
	b := Blocker{Feature: FeatLandlock, Stops: StopsEverything,
		Problem: "Landlock can't be used: " + f.Landlock.Detail}
	switch {
	case f.Landlock.Usable():
		return b, false
	case errors.Is(f.Landlock.Err, syscall.EOPNOTSUPP):
		b.Remedy = "add landlock to the security modules on the kernel's command line: " + lsmParameter(s)
	case errors.Is(f.Landlock.Err, syscall.ENOSYS) && !s.filtered():
		b.Remedy = "use a kernel with Landlock: Linux 5.13 or newer, built with CONFIG_SECURITY_LANDLOCK;" +
			" 6.12 or newer enforces most natively"
		if len(s) == 0 {
			b.Remedy += "; or, if this is a container on such a kernel, " + allowLandlock
		}
	default:
		b.Remedy = allowLandlock
	}
	return b, true
}

// lsmParameter is the boot parameter that keeps what is active and adds
// Landlock. "capability" is always there and not named (Documentation/
// admin-guide/kernel-parameters.txt, lsm=).
func lsmParameter(s Settings) string {
	active, ok := s.Get(SetLSMs)
	if !ok {
		return "lsm=landlock,... followed by the list in /sys/kernel/security/lsm"
	}
	names := []string{"landlock"}
	for name := range strings.SplitSeq(active, ",") {
		if name != "" && name != "capability" {
			names = append(names, name)
		}
	}
	return "lsm=" + strings.Join(names, ",")
}

func filterBlocker(f *Facts, _ Settings) (Blocker, bool) {
	return Blocker{Feature: FeatSeccompFilter, Stops: StopsEverything,
		Problem: "no seccomp filter can be installed: " + f.SeccompFilter.Detail,
		Remedy:  seccompRemedy(f.SeccompFilter, "use a kernel built with CONFIG_SECCOMP_FILTER"),
	}, !f.SeccompFilter.Usable()
}

func notifBlocker(f *Facts, _ Settings) (Blocker, bool) {
	r := f.WaitKillable
	if !f.UserNotif.Usable() {
		r = f.UserNotif
	}
	return Blocker{Feature: r.Name, Stops: StopsBroker,
		Problem: "the kernel can't hand system calls to a supervisor safely: " + r.Detail,
		Remedy:  seccompRemedy(r, "use Linux "+r.Since+" or newer"),
	}, !r.Usable() && f.SeccompFilter.Usable()
}

// seccompRemedy tells a kernel that lacks something from a filter in the way.
// ENOSYS may be either.
func seccompRemedy(r Result, newer string) string {
	const allow = "let this container's or service's seccomp profile allow seccomp"
	switch {
	case errors.Is(r.Err, syscall.EINVAL):
		return newer
	case errors.Is(r.Err, syscall.ENOSYS):
		return newer + ", or " + allow
	}
	return allow
}

func ptraceBlocker(f *Facts, _ Settings) (Blocker, bool) {
	b := Blocker{Feature: FeatReadMemory, Stops: StopsBroker,
		Problem: "the broker can't read the paths that a command names: " + f.ReadMemory.Detail,
		Remedy:  "mount /proc, so that kernel.yama.ptrace_scope can be read"}
	if f.PtraceScope >= PtraceScopeAdmin {
		b.Remedy = "kernel.yama.ptrace_scope=1 still keeps processes from reading each other and lets" +
			" a parent read its own descendants, which is all that is needed"
	}
	if f.PtraceScope == PtraceScopeNone { // Yama.rst: 3 can't be changed any more
		b.Remedy += "; it takes a reboot to leave 3"
	}
	return b, !f.ReadMemory.Usable()
}
