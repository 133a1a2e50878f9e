// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestGenerated compares the table of calls with the one that its generator
// makes of the golang.org/x/sys in use.
func TestGenerated(t *testing.T) {
	want, err := exec.Command("go", "run", "gen.go", "-").Output()
	if err != nil {
		t.Fatalf("cannot run the generator: %v", err)
	}
	got, err := os.ReadFile("calls_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("calls_generated.go is not what gen.go makes of golang.org/x/sys: run go generate, and look at each new call")
	}
}

// TestNewest fails when the table grows, so that whoever updates it decides
// about each new call before it is allowed.
func TestNewest(t *testing.T) {
	name, nr := Newest()
	if name != "rseq_slice_yield" || nr != 471 {
		t.Errorf("the newest call is %s (%d): decide about the new ones, then change this test", name, nr)
	}
	if nr+1 >= maxNumbers {
		t.Errorf("number %d leaves no place for the unknown ones: raise maxNumbers", nr)
	}
	for a := range numArches {
		var newest int16
		for i := range calls {
			newest = max(newest, calls[i].nr[a])
		}
		if uint32(newest) != nr {
			t.Errorf("architecture %d ends at %d, the others at %d", a, newest, nr)
		}
	}
}

// TestNumbers checks the look-up in both directions against numbers known
// from the kernel's own tables.
func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		arch, name string
		nr         uint32
	}{
		{"amd64", "read", 0}, {"amd64", "openat", 257}, {"amd64", "clone3", 435}, {"amd64", "uretprobe", 335},
		{"arm64", "read", 63}, {"arm64", "openat", 56}, {"arm64", "clone3", 435}, {"arm64", "io_setup", 0},
	} {
		if nr, ok := Number(test.arch, test.name); !ok || nr != test.nr {
			t.Errorf("Number(%s, %s) = %d, %v, want %d", test.arch, test.name, nr, ok, test.nr)
		}
		if name, ok := Name(test.arch, test.nr); !ok || name != test.name {
			t.Errorf("Name(%s, %d) = %q, %v, want %s", test.arch, test.nr, name, ok, test.name)
		}
	}
	for _, test := range []struct{ arch, name string }{{"arm64", "open"}, {"amd64", "nosuchcall"}, {"386", "read"}} {
		if nr, ok := Number(test.arch, test.name); ok {
			t.Errorf("Number(%s, %s) = %d, want none", test.arch, test.name, nr)
		}
	}
	if name, ok := Name("amd64", 400); ok {
		t.Errorf("Name(amd64, 400) = %s, want none", name)
	}
}

// TestRules checks what the compiler takes for granted of the tables, and that
// no rule lacks its reason.
func TestRules(t *testing.T) {
	for _, c := range configs() {
		decided := make(map[call]bool)
		for _, group := range active(c) {
			for i := range group {
				checkRule(t, &group[i])
				for _, call := range group[i].calls {
					// Where Landlock does not cover truncation, its rules come first.
					truncation := c.PathTruncate != Allow && (call == callTruncate || call == callOpenat2)
					if decided[call] && group[i].then != Allow && !truncation {
						t.Errorf("%+v: a rule for %s comes after one that always holds", c, calls[call].name)
					}
					decided[call] = decided[call] || len(group[i].checks) == 0
				}
			}
		}
	}
}

func checkRule(t *testing.T, r *rule) {
	t.Helper()
	where := calls[r.calls[0]].name + ": " + r.reason
	if r.reason == "" || r.source == "" {
		t.Errorf("%s: reason or source is missing", where)
	}
	if (r.when == "") != (len(r.checks) == 0) {
		t.Errorf("%s: checks, and their description %q, do not go together", where, r.when)
	}
	if (r.errno == 0) != (r.then != Refuse) || strings.HasPrefix(r.errno.String(), "errno") && r.errno != 0 {
		t.Errorf("%s: verdict %s with %s", where, r.then, r.errno)
	}
	for _, c := range r.checks {
		if !slices.IsSorted(c.values) || len(slices.Compact(slices.Clone(c.values))) != len(c.values) {
			t.Errorf("%s: values are not sorted, or not unique", where)
		}
		if (c.op == anyBit) != (len(c.values) == 0) || c.op == anyBit && c.mask == 0 {
			t.Errorf("%s: a check of nothing", where)
		}
		for _, v := range c.values {
			if c.mask != 0 && v&^c.mask != 0 {
				t.Errorf("%s: no masked word is %#x", where, v)
			}
		}
	}
}

// TestExplain looks at the answers that a diagnosis builds on.
func TestExplain(t *testing.T) {
	for _, test := range []struct {
		name  string
		c     Config
		count int
		first Rule
	}{
		{"read", Config{}, 0, Rule{}},
		{"connect", Config{}, 1, Rule{Errno: EACCES}},
		{"connect", Config{UnixConnect: Notify}, 1, Rule{Verdict: Notify}},
		{"connect", Config{UnixConnect: Allow}, 0, Rule{}},
		{"clone3", Config{}, 1, Rule{Errno: ENOSYS}},
		{"socket", Config{}, 2, Rule{Errno: EACCES, When: datagramRefuse[0].when}},
		{"ptrace", Config{}, 1, Rule{Verdict: Allow}},
	} {
		nr, _ := Number("amd64", test.name)
		rules, err := Explain("amd64", test.c, nr)
		if err != nil || len(rules) != test.count {
			t.Errorf("Explain(%s, %+v): %d rules, %v, want %d", test.name, test.c, len(rules), err, test.count)
			continue
		}
		if test.count == 0 {
			continue
		}
		first := rules[0]
		if first.Verdict != test.first.Verdict || first.Errno != test.first.Errno || first.When != test.first.When {
			t.Errorf("Explain(%s, %+v) = %+v, want %+v", test.name, test.c, first, test.first)
		}
	}
	rules, err := Explain("amd64", loosest, 472)
	if err != nil || len(rules) != 1 || rules[0].Errno != ENOSYS {
		t.Errorf("Explain of an unknown number: %+v, %v, want ENOSYS", rules, err)
	}
}
