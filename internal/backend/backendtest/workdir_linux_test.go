// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestWorkDir: the working directory is usable itself, and grants nothing on
// its parent.
func TestWorkDir(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.at("outside/parent/dir/sub"), 0o755))
	w.write("outside/parent/sibling", "content")
	w.write("outside/parent/dir/f", "content")
	for _, c := range []struct{ extends, put string }{{"system", "EACCES"}, {"workspace", "OK"}} {
		w.tryAll(w.policyFlags("--extends", c.extends, "--work-dir", w.at("outside/parent/dir")), []attempt{
			{"get f", "OK", ""},
			{"list .", "OK", ""},
			{"put f WRONLY content", c.put, ""},
			{"fchmodat AT 'f 0644", c.put, ""},
			{"mkdirat AT 'new 0755", c.put, ""},
			{"chdir 'sub", "OK", ""},
			{"get ../f", "OK", ""},
			{"list ../..", "EACCES", ""},
			{"get ../../sibling", "EACCES", ""},
			{"put ../../sibling WRONLY x", "EACCES", ""},
			{"put ../../new WRONLY|CREAT x", "EACCES", ""},
			{"chdir '../..", "OK", ""}, // Landlock does not restrict it (landlock(7), "NOTES")
			{"list .", "EACCES", ""},
		})
	}
	if fileExists(w.at("outside/parent/new")) {
		t.Error("a file was made in the parent")
	}
}

// TestClosedParent: the working directory may lie below folders that this
// user can't list, or can't even pass any more.
func TestClosedParent(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.at("outside/shut/dir"), 0o755))
	t.Cleanup(func() { _ = os.Chmod(w.at("outside/shut"), 0o755) })
	for _, mode := range []os.FileMode{0o711, 0o311, 0} {
		t.Run(mode.String(), func(t *testing.T) {
			w := w.as(t)
			w.must(os.Chmod(w.at("outside/shut"), 0o755))
			w.must(os.RemoveAll(w.at("outside/shut/dir/made")))
			cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{
				{"put", "made", "WRONLY|CREAT", "content"}, {"get", "made"}, {"list", "."}, {"fchmodat", "AT", "'made", "0600"}, {"list", ".."},
			})...)
			// The shell stands in the folder when its way is closed.
			cmd = throughShell(cmd, `cd "$DIR" && chmod "$MODE" .. && exec "$0" "$@"`)
			cmd.Dir = w.at("outside")
			cmd.Env = append(cmd.Env, "DIR=shut/dir", fmt.Sprintf("MODE=%o", mode))
			var got []string
			for _, r := range replies(t, finish(t, cmd), 5) {
				got = append(got, r.outcome)
			}
			if s := strings.Join(got, " "); s != "OK OK OK OK EACCES" {
				t.Errorf("put, get, list, chmod, list the parent: %s", s)
			}
		})
	}
}
