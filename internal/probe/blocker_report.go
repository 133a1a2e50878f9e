// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
)

func domainBlocker(r *Report) (Blocker, bool) {
	d := r.Result(FeatDomain)
	b := Blocker{Feature: FeatDomain, Stops: StopsEverything,
		Problem: "a process can't restrict itself by Landlock: " + d.Detail,
		Remedy:  allowLandlock}
	if errors.Is(d.Err, syscall.E2BIG) {
		b.Remedy = "start it from fewer nested sandboxes: the kernel stacks " +
			strconv.Itoa(layerLimit) + " Landlock layers"
	}
	return b, !d.Usable() && r.Facts.Landlock.Usable()
}

func listenerBlocker(r *Report) (Blocker, bool) {
	l := r.Result(FeatListener)
	b := Blocker{Feature: FeatListener, Stops: StopsBroker,
		Problem: "the broker can't listen: " + l.Detail,
		Remedy:  "let this container's or service's seccomp profile allow seccomp with a listener"}
	if errors.Is(l.Err, syscall.EBUSY) {
		b.Remedy = "start it outside of the sandbox, or with a container profile without SCMP_ACT_NOTIFY"
	}
	return b, !l.Usable() && r.Facts.UserNotif.Usable() && r.Facts.WaitKillable.Usable()
}

func memoryBlocker(r *Report) (Blocker, bool) {
	m := r.Result(FeatChildMemory)
	return Blocker{Feature: FeatChildMemory, Stops: StopsBroker,
		Problem: "the broker can't read a command's memory: " + m.Detail,
		Remedy: "let this container's or service's seccomp profile allow process_vm_readv, and its" +
			" AppArmor or SELinux profile ptrace (read) among its own processes",
	}, !m.Usable() && r.Facts.ReadMemory.Usable()
}

func procBlocker(r *Report) (Blocker, bool) {
	p := r.Result(FeatProc)
	return Blocker{Feature: FeatProc, Stops: StopsEverything,
		Problem: p.Detail,
		Remedy:  "mount proc on /proc in this container or chroot",
	}, p.Verdict == No
}

// The calls without which nothing works, and those that the broker adds.
var (
	runCalls = []Name{
		"call.landlock_create_ruleset", "call.landlock_add_rule", "call.landlock_restrict_self",
		"call.seccomp", "call.prctl", "call.memfd_create", "call.close_range", "call.openat2",
	}
	brokerCalls = []Name{
		"call.pidfd_open", "call.pidfd_send_signal", "call.pidfd_getfd", "call.process_vm_readv",
	}
)

func callsBlocker(r *Report) (Blocker, bool) {
	return refusedCalls(r, StopsEverything, runCalls)
}

func brokerCallsBlocker(r *Report) (Blocker, bool) {
	return refusedCalls(r, StopsBroker, brokerCalls)
}

// refusedCalls makes one blocker of all refused calls that no other answer
// has reported already. A call that could not be tried stops nothing: the
// attempts that need it tell more.
func refusedCalls(r *Report, stops Extent, calls []Name) (Blocker, bool) {
	var refused []string
	var b Blocker
	for _, name := range calls {
		x := r.Result(name)
		if x.Verdict != No || explained(r, name) {
			continue
		}
		if b.Feature == "" {
			b = Blocker{Feature: name, Stops: stops}
		}
		refused = append(refused, strings.TrimPrefix(string(name), "call.")+" ("+x.Detail+", Linux "+x.Since+")")
	}
	b.Problem = "system calls are refused: " + strings.Join(refused, "; ")
	b.Remedy = "let this container's or service's seccomp profile allow them, or use a kernel that has them"
	return b, len(refused) > 0
}

// explained tells whether the blocker of another answer covers this call.
func explained(r *Report, call Name) bool {
	switch {
	case strings.HasPrefix(string(call), "call.landlock_"):
		return !r.Facts.Landlock.Usable() || !r.Result(FeatDomain).Usable()
	case call == "call.seccomp":
		return !r.Facts.SeccompFilter.Usable()
	case call == "call.process_vm_readv":
		return !r.Result(FeatChildMemory).Usable()
	}
	return false
}
