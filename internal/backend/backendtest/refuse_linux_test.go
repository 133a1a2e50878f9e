// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// refuses asserts that a command is not run within flags: in the plain way
// and with --json, the exit code is 125, the typed code and every word of
// says are there, and no byte of the command ran.
func (w *world) refuses(flags []string, code string, says ...string) {
	w.Helper()
	w.refusesAs(func(cmd *exec.Cmd) *exec.Cmd { return cmd }, flags, code, says...)
}

// refusesAs is the same for a call that change arranges.
func (w *world) refusesAs(change func(*exec.Cmd) *exec.Cmd, flags []string, code string, says ...string) {
	w.Helper()
	const script = "echo it ran; : > ran"
	cmd := change(w.sandbox(flags, "/bin/sh", "-c", script))
	r := finish(w, cmd)
	w.ranNothing(cmd, r)
	for _, word := range append([]string{code}, says...) {
		if !strings.Contains(r.stderr, word) {
			w.Errorf("the error does not say %q:\n%s", word, r.stderr)
		}
	}
	cmd = change(w.sandbox(append(slices.Clone(flags), "--json", "--receipt", w.at("receipt")), "/bin/sh", "-c", script))
	r = finish(w, cmd)
	w.ranNothing(cmd, r)
	if r.stdout == "" {
		w.Errorf("--json: no answer; stderr: %s", r.stderr)
		return
	}
	ans := decode[answer](w, r.stdout)
	if ans.ExitCode != 125 || ans.Code != code || ans.Receipt.Code != code {
		w.Errorf("--json: exit code %d, code %q, receipt's code %q; want 125 and %s", ans.ExitCode, ans.Code, ans.Receipt.Code, code)
	}
	if o := ans.Receipt.Outcome; o != nil && (o.Executed || o.ExitCode != 125) {
		w.Errorf("--json: the receipt's outcome is exit code %d, executed %v", o.ExitCode, o.Executed)
	}
	for _, word := range says {
		if !strings.Contains(ans.Error, word) {
			w.Errorf("--json: the error does not say %q: %s", word, ans.Error)
		}
	}
}

// ranNothing fails unless the exit code is 125 and the command left no trace.
func (w *world) ranNothing(cmd *exec.Cmd, r result) {
	w.Helper()
	if r.code != 125 {
		w.Errorf("ended with %d (signal %d), want 125\nstdout: %s\nstderr: %s", r.code, r.signal, clip(r.stdout), clip(r.stderr))
	}
	if strings.Contains(r.stdout, "it ran") || fileExists(cmd.Dir+"/ran") {
		w.Errorf("the command ran\nstderr: %s", clip(r.stderr))
		_ = os.Remove(cmd.Dir + "/ran")
	}
}
