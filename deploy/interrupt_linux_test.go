// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// steps are the programs by which install.sh changes anything.
var steps = []string{"mkdir", "mktemp", "cp", "chmod", "sync", "mv", "ln", "rm", "touch", "timeout", "cat"}

// striking puts programs into PATH that strike their caller, once, with a
// signal when the n-th of them is called; as the test says, before or after
// they have done their work.
func striking(t *testing.T, u *user, signal string, n int, after string) {
	t.Helper()
	dir, shared := publicDir(t), publicDir(t)
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range steps {
		// dash and bash fork for a program with the script as its parent; the
		// count is the number of lines.
		write(t, filepath.Join(dir, name), fmt.Sprintf(`#!/bin/sh
PATH=%[1]q
echo >>%[2]s/count
strike() { [ "$(wc -l <%[2]s/count)" != %[3]d ] || { : >%[2]s/struck; kill -%[4]s "$PPID"; }; }
[ -n %[5]q ] || strike
%[6]s "$@"
status=$?
[ -z %[5]q ] || strike
exit $status
`, os.Getenv("PATH"), shared, n, signal, after, name))
	}
	u.path = dir + ":" + os.Getenv("PATH")
	t.Cleanup(func() { u.path = os.Getenv("PATH") })
	t.Setenv("AMBIT_TEST_STRUCK", filepath.Join(shared, "struck"))
}

// TestInterrupted: killed at any point of an upgrade, the installation leaves a
// release in use that works, and the next call brings the new one. A signal
// that can be caught leaves the former one in use, and nothing else.
func TestInterrupted(t *testing.T) {
	one, two := release(t, "1"), release(t, "2")
	for _, c := range []struct{ signal, after string }{{"KILL", ""}, {"KILL", "after"}, {"TERM", ""}} {
		t.Run(c.signal+c.after, func(t *testing.T) {
			u := newUser(t)
			u.must("--from", one)
			first := u.current()
			struck := 0
			for n := 1; ; n++ {
				if n > 200 {
					t.Fatal("no end: is anything counted?")
				}
				striking(t, u, c.signal, n, c.after)
				code, out := u.install("--from", two)
				u.path = os.Getenv("PATH")
				if _, err := os.Stat(os.Getenv("AMBIT_TEST_STRUCK")); err != nil {
					if code != 0 {
						t.Errorf("undisturbed, exit code %d\n%s", code, out)
					}
					break
				}
				struck++
				got := u.current()
				if got == "" {
					t.Fatalf("step %d: nothing is in use any more\n%s", n, out)
				}
				if c.signal == "TERM" && code != 0 {
					if got != first {
						t.Errorf("step %d: exit code %d, but %s is in use\n%s", n, code, got, out)
					}
					if _, err := os.Lstat(u.share("pending")); err == nil {
						t.Errorf("step %d: the switch is neither done nor undone\n%s", n, out)
					}
				}
				u.must("--from", two)
				if u.current() == first {
					t.Errorf("step %d: the next call did not bring the new release", n)
				}
				u.nothingLeft()
				// back to the start
				u.must("--from", one)
				if got := u.current(); got != first {
					t.Fatalf("step %d: %s", n, got)
				}
				if err := os.RemoveAll(u.share("previous")); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("interrupted at %d points", struck)
			if struck < 15 {
				t.Errorf("only %d points", struck)
			}
			if strings.Contains(strings.Join(u.releases(), " "), ".new") {
				t.Errorf("left %q", u.releases())
			}
		})
	}
}
