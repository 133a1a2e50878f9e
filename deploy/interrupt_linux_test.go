// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// steps are the programs by which install.sh changes what others see, and what
// lies between them.
var steps = []string{"mkdir", "mktemp", "mv", "ln", "rm", "touch", "timeout"}

// strike makes install.sh be struck by a signal when it calls the n-th of its
// steps. The folder that it returns holds the file "struck" if that happened.
func strike(t *testing.T, u *user, signal string, n int) (dir string) {
	t.Helper()
	dir = publicDir(t)
	notes := filepath.Join(dir, "notes")
	if err := os.Mkdir(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(notes, u.uid, -1); err != nil {
		t.Fatal(err)
	}
	for _, name := range steps {
		// Its parent is the script, or a part of it in a pipeline, whose end ends
		// the script by set -e. Builtins alone: it is called a thousand times.
		write(t, filepath.Join(dir, name), fmt.Sprintf(`#!/bin/sh
PATH=%[1]q
count=0
[ ! -e %[2]s/count ] || read -r count <%[2]s/count
count=$((count + 1))
echo $count >%[2]s/count
[ $count != %[3]d ] || { : >%[2]s/struck; kill -%[4]s "$PPID"; }
exec %[5]s "$@"
`, os.Getenv("PATH"), notes, n, signal, name))
	}
	u.path = dir + ":" + os.Getenv("PATH")
	return notes
}

// pretended is a release whose programs say that they work.
func pretended(t *testing.T, name string) string {
	t.Helper()
	dir := publicDir(t)
	for _, p := range []string{"ambit", "ambitd"} {
		write(t, filepath.Join(dir, p), "#!/bin/sh\n[ \"$1\" = version ] && echo ambitd "+name+"\n[ \"$1\" = check ] && echo ok: \"$0\"\nexit 0\n")
	}
	return dir
}

// TestInterrupted: killed at any point of an upgrade, the installation leaves a
// release in use that works, and the next call brings the new one. A signal
// that can be caught leaves the former one in use, and nothing half done.
func TestInterrupted(t *testing.T) {
	one, two := pretended(t, "1"), pretended(t, "2")
	for _, signal := range []string{"KILL", "TERM"} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.must("--from", one)
			first := u.current()
			start := publicDir(t)
			copyAll(t, u.home, start)
			points := 0
			for n := 1; ; n++ {
				notes := strike(t, u, signal, n)
				code, out := u.install("--from", two)
				u.path = os.Getenv("PATH")
				if _, err := os.Stat(filepath.Join(notes, "struck")); err != nil {
					if code != 0 {
						t.Errorf("undisturbed, exit code %d\n%s", code, out)
					}
					break
				}
				points++
				u.afterStrike(signal, n, first, code, out)
				if signal == "KILL" {
					u.must("--from", two)
					if u.current() == first {
						t.Errorf("step %d: the next call did not bring the new release", n)
					}
				}
				u.nothingLeft()
				copyAll(t, start, u.home)
			}
			if points < 15 || points > 100 {
				t.Errorf("interrupted at %d points", points)
			}
		})
	}
}

// afterStrike: a release is in use that works; the former one, if the script
// could still do something about it.
func (u *user) afterStrike(signal string, n int, first string, code int, out string) {
	u.t.Helper()
	got := u.current()
	if got == "" {
		u.t.Fatalf("step %d: nothing is in use any more\n%s", n, out)
	}
	if signal == "KILL" || code == 0 {
		return
	}
	if got != first {
		u.t.Errorf("step %d: exit code %d, but %s is in use\n%s", n, code, got, out)
	}
	if left, err := filepath.Glob(u.share("pending")); err != nil || len(left) > 0 {
		u.t.Errorf("step %d: the switch is neither done nor undone: %v\n%s", n, err, out)
	}
}

// copyAll makes one folder's content that of the other.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	script := `cd "$2" && find . -mindepth 1 -delete && cp -a "$1/." .`
	if out, err := exec.Command("sh", "-c", script, "sh", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, strings.TrimSpace(string(out)))
	}
}
