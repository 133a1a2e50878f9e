// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"strconv"
	"strings"
	"testing"
)

// TestMissingPathIsSaid: whoever lists a path to open learns that nothing came
// of it, once, whether the command fails or not. A block holds for what is
// missing, and built-in paths are absent on most hosts: of these nothing is said.
func TestMissingPathIsSaid(t *testing.T) {
	w := newWorld(t)
	missing := w.at("read/missing")
	file := w.write("outside/policy", `{"read_paths": [`+strconv.Quote(missing+"-too")+`]}`)
	flags := w.policyFlags("--policy", file, "--extends", "workspace", "--read", missing, "--read", missing, "--block", missing+"-shut")
	r := succeed(t, w.sandbox(flags, "true"))
	for _, line := range []string{
		"ambit: --read: " + strconv.Quote(missing) + " does not exist, so nothing is granted there\n",
		"ambit: " + file + ": " + strconv.Quote(missing+"-too") + " does not exist, so nothing is granted there\n",
	} {
		if strings.Count(r.stderr, line) != 1 {
			t.Errorf("%q in %s", line, r.stderr)
		}
	}
	if strings.Count(r.stderr, "ambit: ") != 2 {
		t.Error(r.stderr)
	}
	if r := succeed(t, w.sandbox(w.policyFlags(), "true")); r.stderr != "" {
		t.Errorf("the control: %s", r.stderr)
	}
}
