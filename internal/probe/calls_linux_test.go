// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// fakeChild answers the calls like a kernel with a filter: it dies at the
// calls to kill for, and reports an errno for those to refuse.
type fakeChild struct {
	kill   map[string]bool
	refuse map[string]syscall.Errno
	starts int
}

func (c *fakeChild) run(_ context.Context, spec childSpec) outcome {
	c.starts++
	from, _ := strconv.Atoi(spec.args[0])
	var o outcome
	for _, a := range sys.Attempts()[from:] {
		o.steps = append(o.steps, step{Name: a.Call})
		if c.kill[a.Call] {
			o.badCall = true
			return o
		}
		o.steps = append(o.steps, step{Name: a.Call, Done: true, Errno: int(c.refuse[a.Call]), Text: textOf(c.refuse[a.Call], a.Call)})
	}
	return o
}

func textOf(errno syscall.Errno, call string) string {
	if errno == 0 {
		return ""
	}
	return call
}

func TestTryCalls(t *testing.T) {
	c := &fakeChild{
		kill:   map[string]bool{"landlock_create_ruleset": true, "memfd_create": true, "process_vm_readv": true},
		refuse: map[string]syscall.Errno{"openat2": syscall.ENOSYS, "pidfd_open": syscall.EPERM, "prctl": syscall.EFAULT},
	}
	results := tryCalls(t.Context(), c.run)
	if len(results) != len(sys.Attempts()) {
		t.Fatalf("%d results for %d calls", len(results), len(sys.Attempts()))
	}
	want := map[Name]Verdict{
		"call.landlock_create_ruleset": No, "call.memfd_create": No, "call.process_vm_readv": No,
		"call.openat2": No, "call.pidfd_open": No, "call.prctl": Unknown,
	}
	for i, r := range results {
		if r.Name != callName(sys.Attempts()[i].Call) {
			t.Errorf("result %d is of %s", i, r.Name)
		}
		if v, ok := want[r.Name]; ok && v != r.Verdict || !ok && r.Verdict != Yes {
			t.Errorf("%s: %v (%v)", r.Name, r.Verdict, r.Err)
		}
	}
	if c.starts != 3 { // the third dies at the last call
		t.Errorf("%d children", c.starts)
	}
	killed := killedCalls(results)
	if len(killed) != 3 || killed[0] != "call.landlock_create_ruleset" {
		t.Errorf("killed for: %v", killed)
	}
}

// TestTryCallsGivesUp: children that die without a word, or can't be started,
// end the search; no call is a yes by that.
func TestTryCallsGivesUp(t *testing.T) {
	for name, o := range map[string]outcome{
		"silent death": {badCall: true},
		"no start":     {err: os.ErrNotExist},
		"empty":        {},
	} {
		starts := 0
		results := tryCalls(t.Context(), func(context.Context, childSpec) outcome { starts++; return o })
		if len(results) != len(sys.Attempts()) || starts != 1 {
			t.Errorf("%s: %d results, %d children", name, len(results), starts)
		}
		for _, r := range results {
			if r.Verdict != Unknown || r.Err == nil {
				t.Errorf("%s: %s is %v, %v", name, r.Name, r.Verdict, r.Err)
			}
		}
	}
}

// TestSparing: calls that would end the process are not made in it.
func TestSparing(t *testing.T) {
	h := modern.host()
	bang := func() { t.Error("a deadly call was made") }
	h.landlockABI = func() (int, error) { bang(); return 0, nil }
	h.landlockErrata = func() (uint32, error) { bang(); return 0, nil }
	h.filterFlags = func(uintptr) error { bang(); return nil }
	h.notifSizes = func() (NotifSizes, error) { bang(); return NotifSizes{}, nil }

	f, err := h.sparing([]Name{"call.landlock_create_ruleset", "call.seccomp"}).quick()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Result{f.Landlock, f.SeccompFilter, f.UserNotif, f.WaitKillable} {
		if r.Verdict != No || !errors.Is(r.Err, errKilled) {
			t.Errorf("%s: %v, %v", r.Name, r.Verdict, r.Err)
		}
	}
}
