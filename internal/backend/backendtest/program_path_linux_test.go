// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"testing"
)

// TestProgramSecondInPath: of two programs of one name in PATH the first may
// be closed to the command. The second one is run then, as execvp(3) does, and
// the receipt tells of that one.
func TestProgramSecondInPath(t *testing.T) {
	w := newWorld(t)
	const script = "#!/bin/sh\necho it ran\nexit 3\n"
	for _, dir := range []string{"outside", "read"} {
		w.write(dir+"/ambit-tool", script)
		w.must(os.Chmod(w.at(dir+"/ambit-tool"), 0o755))
	}
	for _, c := range []struct {
		name, path string
		code       int
		runs       bool
	}{
		{"first", w.at("read") + ":" + w.at("outside"), 3, true},
		{"second", w.at("outside") + ":" + w.at("read"), 3, true},
		{"closed alone", w.at("outside"), 126, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := w.as(t).sandbox(w.policyFlags("--json"), "ambit-tool")
			cmd.Env = append(cmd.Env, "PATH="+c.path)
			r := finish(t, cmd)
			ans := decode[answer](t, r.stdout)
			o := ans.Receipt.Outcome
			if ans.ExitCode != c.code || o == nil || o.Executed != c.runs || (ans.Stdout == "it ran\n") != c.runs {
				t.Errorf("ended with %d, outcome %+v, output %q; want %d, executed %v", ans.ExitCode, o, ans.Stdout, c.code, c.runs)
			}
		})
	}
}
