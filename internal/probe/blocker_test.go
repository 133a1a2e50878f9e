// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// goodFacts are the facts of a host where everything works.
func goodFacts() *Facts {
	yes := func(name Name) Result { return Result{Feature: featureIn(quickFeatures, name), Verdict: Yes} }
	return &Facts{
		Kernel: "7.3.4", Landlock: yes(FeatLandlock), ABI: 11, Rights: RightsOf(11), Errata: 0xf,
		SeccompFilter: yes(FeatSeccompFilter), UserNotif: yes(FeatUserNotif),
		WaitKillable: yes(FeatWaitKillable), ReadMemory: yes(FeatReadMemory),
	}
}

// goodReport is its report.
func goodReport() *Report {
	r := &Report{Facts: goodFacts(), Layers: Layers{0, 16}}
	for _, table := range [][]Feature{attemptFeatures, callFeatures} {
		for _, f := range table {
			r.Results = append(r.Results, Result{Feature: f, Verdict: Yes})
		}
	}
	return r
}

// refuse makes the answer about a feature a refusal.
func (r *Report) refuse(name Name, errno syscall.Errno, detail string) {
	for i := range r.Results {
		if r.Results[i].Name == name {
			r.Results[i].Verdict, r.Results[i].Detail = No, detail
			r.Results[i].Err = os.NewSyscallError("call", errno)
		}
	}
}

func refused(name Name, errno syscall.Errno) Result {
	return Result{Feature: featureIn(quickFeatures, name), Verdict: No, Detail: "refused", Err: os.NewSyscallError("call", errno)}
}

func TestNoBlockersWhereAllWorks(t *testing.T) {
	if got := goodFacts().Blockers(); len(got) != 0 {
		t.Errorf("facts: %+v", got)
	}
	if got := goodReport().Blockers(); len(got) != 0 {
		t.Errorf("report: %+v", got)
	}
}

type blockerCase struct {
	name    string
	change  func(*Report)
	feature Name
	stops   Extent
	remedy  string // a part of it
}

var blockerCases = []blockerCase{
	{"not started at boot", func(r *Report) {
		r.Facts.Landlock = refused(FeatLandlock, syscall.EOPNOTSUPP)
		r.Settings = settingsOf(SetLSMs, "lockdown,capability,yama,apparmor")
	}, FeatLandlock, StopsEverything, "lsm=landlock,lockdown,yama,apparmor"},
	{"not started, list unknown", func(r *Report) {
		r.Facts.Landlock = refused(FeatLandlock, syscall.EOPNOTSUPP)
	}, FeatLandlock, StopsEverything, "lsm=landlock,... followed by"},
	{"kernel too old", func(r *Report) {
		r.Facts.Landlock = refused(FeatLandlock, syscall.ENOSYS)
		r.Settings = settingsOf(SetSeccompMode, "0")
	}, FeatLandlock, StopsEverything, "Linux 5.13 or newer"},
	{"hidden by a container", func(r *Report) {
		r.Facts.Landlock = refused(FeatLandlock, syscall.ENOSYS)
		r.Settings = settingsOf(SetSeccompMode, "2")
	}, FeatLandlock, StopsEverything, "landlock_create_ruleset, landlock_add_rule and landlock_restrict_self"},
	{"refused by a container", func(r *Report) {
		r.Facts.Landlock = refused(FeatLandlock, syscall.EPERM)
	}, FeatLandlock, StopsEverything, "seccomp profile allow"},
	{"no filters", func(r *Report) {
		r.Facts.SeccompFilter = refused(FeatSeccompFilter, syscall.EINVAL)
	}, FeatSeccompFilter, StopsEverything, "CONFIG_SECCOMP_FILTER"},
	{"filters refused", func(r *Report) {
		r.Facts.SeccompFilter = refused(FeatSeccompFilter, syscall.EPERM)
	}, FeatSeccompFilter, StopsEverything, "profile allow seccomp"},
	{"filters hidden", func(r *Report) {
		r.Facts.SeccompFilter = refused(FeatSeccompFilter, syscall.ENOSYS)
	}, FeatSeccompFilter, StopsEverything, "CONFIG_SECCOMP_FILTER, or let this"},
	{"no notification", func(r *Report) {
		r.Facts.UserNotif = refused(FeatUserNotif, syscall.EINVAL)
		r.Facts.WaitKillable = refused(FeatWaitKillable, syscall.EINVAL)
	}, FeatUserNotif, StopsBroker, "Linux 5.0"},
	{"no killable wait", func(r *Report) {
		r.Facts.WaitKillable = refused(FeatWaitKillable, syscall.EINVAL)
	}, FeatWaitKillable, StopsBroker, "Linux 5.19"},
	{"yama 2", func(r *Report) {
		r.Facts.PtraceScope, r.Facts.ReadMemory = PtraceScopeAdmin, refused(FeatReadMemory, 0)
	}, FeatReadMemory, StopsBroker, "ptrace_scope=1"},
	{"yama 3", func(r *Report) {
		r.Facts.PtraceScope, r.Facts.ReadMemory = PtraceScopeNone, refused(FeatReadMemory, 0)
	}, FeatReadMemory, StopsBroker, "reboot"},
	{"yama unknown", func(r *Report) {
		r.Facts.PtraceScope = PtraceScopeUnknown
		r.Facts.ReadMemory = Result{Feature: featureIn(quickFeatures, FeatReadMemory)}
	}, FeatReadMemory, StopsBroker, "mount /proc"},
	{"too many layers", func(r *Report) {
		r.refuse(FeatDomain, syscall.E2BIG, "full")
	}, FeatDomain, StopsEverything, "fewer nested sandboxes"},
	{"restricting refused", func(r *Report) {
		r.refuse(FeatDomain, syscall.EPERM, "refused by a filter")
		r.refuse("call.landlock_restrict_self", syscall.EPERM, "refused by a filter")
	}, FeatDomain, StopsEverything, "landlock_restrict_self"},
	{"another listener", func(r *Report) {
		r.refuse(FeatListener, syscall.EBUSY, "taken")
	}, FeatListener, StopsBroker, "SCMP_ACT_NOTIFY"},
	{"memory refused", func(r *Report) {
		r.refuse(FeatChildMemory, syscall.EPERM, "refused")
		r.refuse("call.process_vm_readv", syscall.EPERM, "refused by a filter")
	}, FeatChildMemory, StopsBroker, "process_vm_readv"},
	{"no /proc", func(r *Report) {
		r.refuse(FeatProc, syscall.ENOENT, "not mounted")
	}, FeatProc, StopsEverything, "mount proc"},
	{"openat2 refused", func(r *Report) {
		r.refuse("call.openat2", syscall.EPERM, "refused by a filter")
	}, "call.openat2", StopsEverything, "seccomp profile allow"},
	{"pidfd calls refused", func(r *Report) {
		r.refuse("call.pidfd_open", syscall.ENOSYS, "hidden")
		r.refuse("call.pidfd_getfd", syscall.ENOSYS, "hidden")
	}, "call.pidfd_open", StopsBroker, "or use a kernel that has them"},
}

func TestBlockers(t *testing.T) {
	for _, tt := range blockerCases {
		t.Run(tt.name, func(t *testing.T) {
			r := goodReport()
			tt.change(r)
			got := r.Blockers()
			if len(got) != 1 {
				t.Fatalf("want one blocker, got %+v", got)
			}
			if b := got[0]; b.Feature != tt.feature || b.Stops != tt.stops || !strings.Contains(b.Remedy, tt.remedy) {
				t.Errorf("got %+v, want %s, %q, a remedy with %q", b, tt.feature, tt.stops, tt.remedy)
			}
			if got[0].Problem == "" {
				t.Error("a blocker without a problem")
			}
		})
	}
}

// TestRemediesAreNarrow: no remedy may tell anyone to switch a protection off
// for a whole host or container.
func TestRemediesAreNarrow(t *testing.T) {
	texts := []string{
		explainUserNS(syscall.EACCES, settingsOf(SetLSMs, "apparmor")),
		explainUserNS(syscall.EACCES, settingsOf(SetLSMs, "selinux")),
		explainInside(No, settingsOf(SetAppArmorUserNS, "1")),
	}
	for _, tt := range blockerCases {
		r := goodReport()
		tt.change(r)
		for _, b := range r.Blockers() {
			texts = append(texts, b.Problem+"\n"+b.Remedy)
		}
	}
	for _, text := range texts {
		for _, bad := range []string{
			"restrict_unprivileged_userns=0", "setenforce", "permissive", "privileged container", "--privileged",
			"unconfined", "aa-disable", "ptrace_scope=0", "apparmor=0", "selinux=0", "seccomp=0", "CAP_SYS_ADMIN",
		} {
			if strings.Contains(text, bad) {
				t.Errorf("%q advises %q", text, bad)
			}
		}
	}
}
