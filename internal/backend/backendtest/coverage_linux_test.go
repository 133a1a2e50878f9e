// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

// covers asserts a line of the coverage report: where a denial can't be
// tried because this kernel can't deny it, that is what the product must say.
func (w *world) covers(item, verdict, mechanism string) {
	w.Helper()
	cmd := w.sandbox(w.policyFlags(), "/bin/true")
	cmd.Args = append([]string{cmd.Args[0], "run", "--json"}, cmd.Args[2:]...)
	ans := decode[answer](w, succeed(w, cmd).stdout)
	for _, l := range ans.Receipt.Coverage {
		if l.Item != item {
			continue
		}
		if l.Verdict != verdict || !strings.Contains(l.Mechanism, mechanism) {
			w.Errorf("%s is %q by %q (%s), want %q by %q", item, l.Verdict, l.Mechanism, l.Reason, verdict, mechanism)
		}
		return
	}
	w.Errorf("the coverage says nothing of %s", item)
}

// TestCoverage: a run reports on every item, and none of it is missing
// without having been accepted.
func TestCoverage(t *testing.T) {
	w := newWorld(t)
	cmd := w.sandbox(w.policyFlags(), "/bin/true")
	cmd.Args = append([]string{cmd.Args[0], "run", "--json"}, cmd.Args[2:]...)
	ans := decode[answer](t, succeed(t, cmd).stdout)
	r := ans.Receipt
	if r.LandlockABI != landlockABI() || r.Kernel != kernelRelease() || r.Backend != "landlock" {
		t.Errorf("the receipt says ABI %d, kernel %s, backend %s; want %d, %s, landlock", r.LandlockABI, r.Kernel, r.Backend, landlockABI(), kernelRelease())
	}
	// The folder is no repository, so of the built-in policy's protections
	// those hold that are not in .git.
	nested := ""
	for _, p := range policy.Protections {
		for _, place := range p.Paths {
			if !strings.Contains(place, "/.git/") {
				nested += "files.nested "
			}
		}
	}
	want := strings.Fields(`files.read files.write files.truncate files.metadata files.devices ` + nested + ` network.sockets
		unix.pathname unix.abstract process.signal process.trace process.ipc process.tree privileges syscalls
		descriptors environment limits.output`)
	for i, l := range r.Coverage {
		if i >= len(want) || l.Item != want[i] {
			t.Errorf("line %d is about %s, want the items %v", i, l.Item, want)
			break
		}
		if l.Verdict == "not enforced" {
			t.Errorf("%s is not enforced, and the command ran: %+v", l.Item, l)
		}
		if l.Verdict != "not enforced" && l.Mechanism == "" {
			t.Errorf("%s is %s by nothing", l.Item, l.Verdict)
		}
	}
	if len(r.Coverage) != len(want) {
		t.Errorf("%d lines, want %d", len(r.Coverage), len(want))
	}
}

// TestGaps: the default policy asks for nothing that a kernel with a broker
// can't enforce, so that it runs without accepting anything. What it can't
// enforce stops a run that does not accept it, and the error names that.
func TestGaps(t *testing.T) {
	w := newWorld(t)
	r := finish(t, w.sandbox([]string{"--read", self(t)}, "/bin/sh", "-c", "echo > ran"))
	if r.code != 0 || !fileExists(w.at("work/ran")) {
		t.Errorf("ended with %d, want 0: this kernel can enforce everything\n%s", r.code, r.stderr)
	}
	w = newWorld(t) // where nothing has run
	for _, flags := range [][]string{{"--read", "/dev"}, {"--read", "/dev/ptmx"}} {
		if landlockABI() < abiDevices {
			w.refuses(w.policyFlags(flags...), "SANDBOX_UNAVAILABLE", "files.devices")
			flags = append(flags, "--accept", "files.devices")
		}
		succeed(t, w.sandbox(w.policyFlags(flags...), "/bin/true"))
	}
	succeed(t, w.sandbox(w.policyFlags("--read", "/dev/null", "--read", "/dev/zero"), "/bin/true"))
}
