// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// needLandlock skips where the kernel itself says that it has no Landlock, and
// proves it: a filter would leave a trace in the process's status.
func needLandlock(t *testing.T) *Facts {
	t.Helper()
	f, err := Quick()
	if err != nil {
		t.Fatal(err)
	}
	if f.Landlock.Usable() {
		return f
	}
	gone := errors.Is(f.Landlock.Err, syscall.ENOSYS) || errors.Is(f.Landlock.Err, syscall.EOPNOTSUPP)
	if !gone || thisHost().settings().filtered() {
		t.Fatalf("Landlock can't be used, and not for lack of it: %+v", f.Landlock)
	}
	t.Skipf("this kernel has no Landlock: %v", f.Landlock.Err)
	return nil
}

// needUserNamespaces skips where the kernel refuses a user namespace to this
// very process.
func needUserNamespaces(t *testing.T) {
	t.Helper()
	if err := tryClone(childSpec{namespaces: syscall.CLONE_NEWUSER, users: mapRoot}); err != nil {
		if v, _ := namespaceRefusals.judge(err); v != No {
			t.Fatalf("a user namespace can't be made, and is not refused: %v", err)
		}
		t.Skipf("this host refuses user namespaces: %v", err)
	}
	if r := mountsInside(t); r.Verdict != Yes {
		if r.Verdict != No {
			t.Fatalf("mounts in a user namespace can't be made, and are not refused: %+v", r)
		}
		t.Skipf("this host refuses mounts in user namespaces: %v", r.Err)
	}
}

func mountsInside(t *testing.T) Result {
	o := runChild(t.Context(), childSpec{
		name: "mount", namespaces: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, users: mapRoot,
	})
	return insideResult(FeatMountNS, o, nil, "private", "tmpfs")
}

// TestFullHere: on a host without filters, answers of the quick probe, which
// asks, and of the attempts, which do, must agree.
func TestFullHere(t *testing.T) {
	for _, tt := range []struct {
		name string
		attr *syscall.SysProcAttr
	}{{"as this user", nil}, {"as an ordinary user", ordinaryUser()}} {
		t.Run(tt.name, func(t *testing.T) {
			h := play(t, "plain", tt.attr)
			checkAgreement(t, h, FeatDomain, FeatLandlock)
			checkAgreement(t, h, "call.landlock_create_ruleset", FeatLandlock)
			checkAgreement(t, h, "call.seccomp", FeatSeccompFilter)
			checkAgreement(t, h, FeatListener, FeatWaitKillable)
			checkAgreement(t, h, FeatChildMemory, FeatReadMemory)
			h.expect(t, FeatProc, Yes, "")
			h.expect(t, "call.prctl", Yes, "")
			h.expect(t, "call.memfd_create", Yes, "")
			h.expect(t, "call.process_vm_readv", Yes, "")
			if h.Facts.ABI > 0 && h.Layers != (Layers{0, layerLimit}) {
				t.Errorf("layers: got %+v, want none used", h.Layers)
			}
		})
	}
}

func checkAgreement(t *testing.T, h *heard, tried, asked Name) {
	t.Helper()
	if a, b := h.verdict(tried), h.verdict(asked); a != b || a == "" {
		t.Errorf("%s is %q, but %s is %q", tried, a, asked, b)
	}
}

// TestLandlockRefusedByFilter is a container whose profile does not know
// Landlock, in the three ways in which profiles refuse.
func TestLandlockRefusedByFilter(t *testing.T) {
	needLandlock(t)
	control := play(t, "plain", nil)
	control.expect(t, FeatDomain, Yes, "") // without the filter it works
	for _, tt := range []struct{ how, errno string }{
		{"1", "EPERM"}, {"38", "ENOSYS"}, {"kill", ""},
	} {
		t.Run(tt.how, func(t *testing.T) {
			h := play(t, "filter="+tt.how, nil)
			h.expect(t, FeatLandlock, No, tt.errno)
			h.expect(t, FeatDomain, No, tt.errno)
			for _, call := range []Name{
				"call.landlock_create_ruleset", "call.landlock_add_rule", "call.landlock_restrict_self",
			} {
				h.expect(t, call, No, tt.errno)
			}
			h.expect(t, "call.seccomp", Yes, "") // the calls after the refused ones were tried
			h.expect(t, "call.process_vm_readv", Yes, "")
			h.expect(t, FeatListener, Yes, "")
			h.expect(t, "landlock.fs.execute", No, tt.errno)
			if h.Facts.ABI != 0 || h.Facts.Rights != (Rights{}) || h.Layers.Used != -1 {
				t.Errorf("ABI %d, rights %+v, layers %+v of a Landlock that is refused", h.Facts.ABI, h.Facts.Rights, h.Layers)
			}
			// One blocker more than without the filter, and the right one.
			if len(h.Blockers) != len(control.Blockers)+1 || !h.blocked(FeatLandlock) ||
				!strings.Contains(h.Blockers[0].Remedy, "landlock_add_rule") {
				t.Errorf("blockers: %+v", h.Blockers)
			}
		})
	}
}

func TestLandlockLayers(t *testing.T) {
	needLandlock(t)
	h := play(t, "layers=3", nil)
	h.expect(t, FeatDomain, Yes, "")
	if want := (Layers{3, layerLimit - 3}); h.Layers != want {
		t.Errorf("in three domains: got %+v, want %+v", h.Layers, want)
	}

	h = play(t, "layers=16", nil)
	h.expect(t, FeatDomain, No, "E2BIG")
	h.expect(t, FeatLandlock, Yes, "") // the ABI can still be asked for
	if want := (Layers{layerLimit, 0}); h.Layers != want || !h.blocked(FeatDomain) {
		t.Errorf("in sixteen domains: got %+v, want %+v; blockers %+v", h.Layers, want, h.Blockers)
	}
}

func TestListenerTaken(t *testing.T) {
	f, err := Quick()
	if err != nil {
		t.Fatal(err)
	}
	if !f.WaitKillable.Usable() {
		if !errors.Is(f.WaitKillable.Err, syscall.EINVAL) {
			t.Fatalf("no listener can be made, and not for lack of it: %+v", f.WaitKillable)
		}
		t.Skipf("this kernel has no such listeners: %v", f.WaitKillable.Err)
	}
	h := play(t, "listener", nil)
	h.expect(t, FeatListener, No, "EBUSY")
	h.expect(t, FeatWaitKillable, Yes, "") // only the attempt can tell
	if !h.blocked(FeatListener) {
		t.Errorf("blockers: %+v", h.Blockers)
	}
}

func TestNoUserNamespacesLeft(t *testing.T) {
	needUserNamespaces(t)
	h := play(t, "no-user-namespaces", inUserNamespace(0))
	for _, name := range []Name{FeatUserNS, FeatUserMap, FeatMountNS, FeatPIDNS, FeatNetNS} {
		h.expect(t, name, No, "ENOSPC")
	}
	for _, r := range h.Results {
		if r.Name == FeatUserNS && !strings.Contains(r.Detail, "user.max_user_namespaces is 0") {
			t.Errorf("detail: %q", r.Detail)
		}
	}
	checkAgreement(t, h, FeatDomain, FeatLandlock) // Landlock needs no namespace
}

func TestNoProc(t *testing.T) {
	needUserNamespaces(t)
	h := play(t, "no-proc", inUserNamespace(syscall.CLONE_NEWNS))
	h.expect(t, FeatProc, No, "")
	h.expect(t, FeatReadMemory, Unknown, "ENOENT") // Yama may be there or not
	h.expect(t, FeatDomain, Unknown, "ENOENT")     // no child can be started
	if h.Facts.Scope != int(PtraceScopeUnknown) || !h.blocked(FeatProc) {
		t.Errorf("ptrace scope %d, blockers %+v", h.Facts.Scope, h.Blockers)
	}
}

// TestChildIsBounded: a child that does not end is killed when its time is
// over.
func TestChildIsBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pid := 0
	start := time.Now()
	o := runChild(ctx, childSpec{name: "memory", heard: func(child int, _ step) {
		pid = child
		cancel()
		waitDead(t, child) // keeps it waiting for us, so that it can't end by itself
	}})
	if pid == 0 || !errors.Is(o.err, context.Canceled) {
		t.Fatalf("child %d: got %v, want it cancelled", pid, o.err)
	}
	if took := time.Since(start); took > childTime {
		t.Errorf("took %v", took)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("child %d is still there: %v", pid, err)
	}
}

// waitDead waits until a child of ours is a zombie.
func waitDead(t *testing.T, pid int) {
	t.Helper()
	for range 12000 { // a minute: the machine may be loaded
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("child %d still runs", pid)
}

func TestCancelledFullIsUnknown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Full(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []Name{FeatDomain, FeatListener, FeatChildMemory, "call.openat2"} {
		if v := r.Result(name).Verdict; v == Yes {
			t.Errorf("%s: %v without a try", name, v)
		}
	}
}

// TestFullChangesNothing: the probing process stays as it was.
func TestFullChangesNothing(t *testing.T) {
	before := changeable(t)
	if _, err := Full(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := changeable(t); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// changeable lists what the attempts would leave on the process that makes
// them: filters, no_new_privs, descriptors and children.
func changeable(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Seccomp") || strings.HasPrefix(line, "NoNewPrivs") {
			out.WriteString(line)
		}
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		out.WriteString("fd " + fd.Name() + "\n")
	}
	var ws syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
	return out.String()
}

func TestDispatchLeavesOthersAlone(t *testing.T) {
	for _, args := range [][]string{nil, {"run"}, {childArg}, {"run", childArg, "calls"}} {
		if handled, _ := Dispatch(args); handled {
			t.Errorf("Dispatch(%q) took the process", args)
		}
	}
	if handled, exit := Dispatch([]string{childArg, "no such"}); !handled || exit == 0 {
		t.Errorf("an unknown child: handled %v, exit %d", handled, exit)
	}
}

func BenchmarkFull(b *testing.B) {
	for b.Loop() {
		if _, err := Full(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
