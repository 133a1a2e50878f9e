// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"strings"
	"testing"
)

// TestNewProgram: what a command writes it can execute, as compilers and test
// runners do: scripts, binaries, and what it loads into memory.
func TestNewProgram(t *testing.T) {
	w := newWorld(t)
	me := self(t)
	w.must(os.Mkdir(w.at("read/bin"), 0o755))
	w.write("read/bin/script", "#!/bin/sh\necho read\n")
	w.must(os.Chmod(w.at("read/bin/script"), 0o755))
	w.write("outside/interpreter", "#!/bin/sh\necho outside\n")
	w.must(os.Chmod(w.at("outside/interpreter"), 0o755))
	w.tryAll(w.policyFlags("--env", "PATH="+w.at("work")+":/usr/bin:/bin"), []attempt{
		{"mkdirat AT 'new 0755", "OK", ""},
		{"put new/script WRONLY|CREAT #!/bin/sh", "OK", ""},
		{"run new/script", "EACCES", ""}, // not executable yet
		{"fchmodat AT 'new/script 0755", "OK", ""},
		{"run new/script", "OK", ""},
		{"copy " + me + " %work/new/program", "OK", ""},
		{"run %work/new/program op args x", "OK", "=OK \"[\\\"x\\\"]\"\n"},
		{"renameat AT 'new/program AT 'moved", refer("OK", "EXDEV"), ""},
		{"run %work/moved op args x", refer("OK", "ENOENT"), ""},
		{"linkat AT 'new/script AT 'new/linked 0", "OK", ""},
		{"run new/linked", "OK", ""},
		{"run %read/bin/script", "OK", "read\n"},
		// A script's interpreter is executed too.
		{"put outer WRONLY|CREAT #!" + w.at("outside/interpreter"), "OK", ""},
		{"fchmodat AT 'outer 0755", "OK", ""},
		{"run %work/outer", "EACCES", ""},
		{"run %outside/interpreter", "EACCES", ""},
		// The loader maps what it may read, and nothing else.
		{"symlinkat '" + w.at("outside/interpreter") + " AT 'link", "OK", ""},
		{"run %work/link", "EACCES", ""},
	})
}

// refer is an outcome on kernels that move files between folders, and one on
// the others.
func refer(with, without string) string {
	if landlockABI() < abiRefer {
		return without
	}
	return with
}

// TestReceiptFile: the receipt is what --json has, replaces what was in the
// file, and is not written through a link, which the command may have put
// there.
func TestReceiptFile(t *testing.T) {
	w := newWorld(t)
	file := w.write("work/receipt", strings.Repeat("x", 100000))
	r := finish(t, w.sandbox(w.policyFlags("--receipt", file), "/bin/sh", "-c", "exit 3"))
	b, err := os.ReadFile(file)
	w.must(err)
	rec := decode[receipt](t, string(b))
	if r.code != 3 || rec.Outcome == nil || rec.Outcome.ExitCode != 3 || !rec.Outcome.Executed || rec.Backend != "landlock" || len(rec.Coverage) == 0 {
		t.Errorf("ended with %d, the receipt says %+v", r.code, rec)
	}
	// A command that replaces it meanwhile leads the supervisor nowhere.
	victim := w.write("outside/victim", "content")
	succeed(t, w.sandbox(w.policyFlags("--receipt", file), "/bin/sh", "-c", "rm receipt && ln -s "+victim+" receipt"))
	if b, err := os.ReadFile(victim); string(b) != "content" {
		t.Errorf("the receipt was written through the command's link: %q (%v)", b, err)
	}
	w.must(os.Mkdir(w.at("outside/folder"), 0o755))
	for _, name := range []string{"work/receipt", "outside/folder", "outside/missing/receipt", "read"} {
		cmd := w.sandbox(w.policyFlags("--receipt", w.at(name)), "/bin/sh", "-c", ": > ran")
		r := finish(t, cmd)
		w.ranNothing(cmd, r)
		if !strings.Contains(r.stderr, "receipt") {
			t.Errorf("%s: the error does not speak of the receipt: %s", name, r.stderr)
		}
	}
}
