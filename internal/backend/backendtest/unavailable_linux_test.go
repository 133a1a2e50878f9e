// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestUnavailable: without Landlock nothing runs, whichever way in, and the
// error says so in the words of the contract. On a kernel with Landlock a
// seccomp filter hides it, in each way that a kernel lacks it.
func TestUnavailable(t *testing.T) {
	w := newWorld(t)
	as := func(cmd *exec.Cmd) *exec.Cmd { return cmd }
	if unavailable() {
		t.Run("this kernel", func(t *testing.T) { w.as(t).runsNothing(as) })
		return
	}
	for _, errno := range []syscall.Errno{syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EPERM} {
		t.Run(outcome(errno), func(t *testing.T) {
			w.as(t).runsNothing(through(t, "refuse", "landlock_create_ruleset", fmt.Sprint(int(errno))))
		})
	}
}

// runsNothing tries everything that might run a command on a machine that
// can't confine it.
func (w *world) runsNothing(change func(*exec.Cmd) *exec.Cmd) {
	w.Helper()
	var everything []string
	for _, item := range []string{
		"files.devices", "files.metadata", "files.truncate", "limits.memory", "limits.processes", "process.ipc", "process.signal", "process.trace", "process.tree", "unix.abstract", "unix.pathname",
	} {
		everything = append(everything, "--accept", item)
	}
	policy := w.write("outside/policy.json", `{"extends": "none", "write_paths": ["/"], "allow_network": true, "private_tmp": false}`)
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"default policy", nil},
		{"everything accepted", everything},
		{"everything granted", append(slices.Clone(everything), "--write", "/", "--allow-network", "--private-tmp=false")},
		{"nothing granted", []string{"--extends", "none", "--work-dir", w.at("work")}},
		{"policy file", []string{"--policy", policy}},
		{"limits", []string{"--timeout", "1m", "--output-limit", "1000"}},
	} {
		w.Run(c.name, func(t *testing.T) {
			w := w.as(t)
			w.refusesAs(change, c.flags, "SANDBOX_UNAVAILABLE", "andlock")
			b, err := os.ReadFile(w.at("receipt"))
			w.must(err)
			if rec := decode[receipt](t, string(b)); rec.Code != "SANDBOX_UNAVAILABLE" || !strings.Contains(rec.Error, "andlock") || rec.Outcome != nil {
				t.Errorf("the receipt says %q: %s", rec.Code, rec.Error)
			}
		})
	}
	// Other front ends of the same program. Whatever they say, they run nothing.
	for _, args := range [][]string{{"policy", "show"}, {"doctor"}, {"doctor", "--json"}} {
		r := finish(w, change(w.ambit(args...)))
		if r.code < 0 || strings.Contains(r.stdout+r.stderr, "panic") {
			w.Errorf("%v: ended with %d (signal %d)\n%s", args, r.code, r.signal, clip(r.stderr))
		}
		if args[0] == "doctor" && r.code == 0 {
			w.Errorf("%v: ended with 0, and no sandbox can be made\n%s", args, clip(r.stdout))
		}
	}
	if r := finish(w, change(w.ambit("__launch"))); r.code == 0 {
		w.Errorf("the launcher, called by hand: ended with 0\n%s", r.stdout)
	}
}
