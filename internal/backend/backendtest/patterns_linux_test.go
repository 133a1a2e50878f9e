// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// refusesPatterns is what must become of a pattern where the broker can't be
// relied on: what it leaves to the kernel, Landlock must cover.
func (w *world) refusesPatterns(flags []string) bool {
	if landlockABI() >= abiRefer {
		return false
	}
	w.refuses(w.policyFlags(flags...), "SANDBOX_UNAVAILABLE", "files.nested")
	return true
}

// TestNestedPatterns: names that a pattern matches are closed, those that the
// command makes later in folders that it makes later too.
func TestNestedPatterns(t *testing.T) {
	for _, c := range []struct {
		flag     string
		attempts []attempt
	}{
		{"--block-write", []attempt{
			{"get .env", "OK", "secret"},
			{"get sub/.env", "OK", ""},
			{"put .env WRONLY x", "EACCES", ""},
			{"put sub/.env WRONLY|TRUNC x", "EACCES", ""},
			{"fchmodat AT 'sub/.env 0600", "EACCES", ""},
		}},
		{"--block", []attempt{
			{"get .env", "EACCES", ""},
			{"get sub/.env", "EACCES", ""},
			{"get sub/../sub/.env", "EACCES", ""},
			{"get /proc/self/cwd/sub/.env", "EACCES", ""},
			{"list sub", "OK", ""},
			{"list closed/.env", "EACCES", ""},
			{"get closed/.env/f", "EACCES", ""},
			{"fchmodat AT 'sub/.env 0600", "EACCES", ""},
		}},
	} {
		t.Run(strings.TrimLeft(c.flag, "-"), func(t *testing.T) {
			w := newWorld(t)
			w.must(os.MkdirAll(w.at("work/sub"), 0o755))
			w.must(os.Mkdir(w.at("free"), 0o755))
			w.must(os.MkdirAll(w.at("work/closed/.env"), 0o755))
			for _, f := range []string{"work/.env", "work/sub/.env", "work/closed/.env/f"} {
				w.write(f, "secret")
			}
			flags := []string{c.flag, w.at("work/**/.env"), "--write", w.at("free")}
			if w.refusesPatterns(flags) {
				return
			}
			w.tryAll(w.policyFlags(flags...), append(c.attempts, []attempt{
				{"mkdirat AT 'later 0755", "OK", ""},
				{"mkdirat AT 'later/deep 0755", "OK", ""},
				{"put later/deep/env WRONLY|CREAT x", "OK", ""},
				{"get later/deep/env", "OK", ""},
				{"put later/deep/.env WRONLY|CREAT x", "EACCES", ""},
				{"put later/.env WRONLY|CREAT x", "EACCES", ""},
				{"mkdirat AT 'later/deep/.env 0755", "EACCES", ""},
				{"symlinkat 'env AT 'later/deep/.env", "EACCES", ""},
				{"renameat AT 'later/deep/env AT 'later/deep/.env", "EACCES", ""},
				{"linkat AT 'later/deep/env AT 'later/deep/.env 0", "EACCES", ""},
				{"linkat AT 'sub/.env AT 'later/name 0", "EACCES", ""},
				{"renameat AT 'sub/.env AT 'later/name", "EACCES", ""},
				{"renameat AT '.env AT 'name", "EACCES", ""},
				{"unlinkat AT 'sub/.env 0", "EACCES", ""},
				{"put sub/.env WRONLY x", "EACCES", ""},
				{"put closed/.env/new WRONLY|CREAT x", "EACCES", ""},
				{"renameat AT 'sub AT 'later/sub", "OK", ""},
				{"put later/sub/.env WRONLY x", "EACCES", ""},
				{"renameat AT 'later/sub AT 'sub", "OK", ""},
				{"renameat AT 'sub AT '" + w.at("free/sub"), "EXDEV", ""},
				{"put sub/.envx WRONLY|CREAT x", "OK", ""},
				{"unlinkat AT 'sub/.envx 0", "OK", ""},
				{"put %free/.env WRONLY|CREAT x", "OK", ""},
			}...))
			for _, f := range []string{"work/.env", "work/sub/.env", "work/closed/.env/f"} {
				if b, err := os.ReadFile(w.at(f)); err != nil || string(b) != "secret" {
					t.Errorf("%s holds %q: %v", f, b, err)
				}
			}
			for _, name := range []string{"work/later/.env", "work/later/deep/.env", "work/name", "work/later/name"} {
				if fileExists(w.at(name)) {
					t.Errorf("%s was made", name)
				}
			}
		})
	}
}

// TestPatternsOutsideCommand: what others put into the project while the
// command runs is closed by its name as well.
func TestPatternsOutsideCommand(t *testing.T) {
	w := newWorld(t)
	flags := []string{"--block", w.at("work/**/*.pem")}
	if w.refusesPatterns(flags) {
		return
	}
	talk := w.converse(w.policyFlags(flags...))
	talk.expect("get nothing", "ENOENT", "") // it runs
	w.must(os.MkdirAll(w.at("work/new/deep"), 0o755))
	w.write("work/new/deep/key.pem", "secret")
	w.write("work/new/deep/key.pub", "public")
	talk.expect("get new/deep/key.pem", "EACCES", "")
	talk.expect("get new/deep/key.pub", "OK", "public")
}

// TestPatternsExec: what stands in a folder where a pattern closes names for
// reading can be executed, scripts too, and what is closed can't.
func TestPatternsExec(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.at("work/bin"), 0o755))
	for _, name := range []string{"work/script", "work/bin/script", "work/bin/closed.sh"} {
		w.write(name, "#!/bin/sh\necho ran\n")
		w.must(os.Chmod(w.at(name), 0o755))
	}
	w.must(os.Link(w.at("work/bin/closed.sh"), w.at("work/bin/other")))
	me := self(t)
	succeed(t, exec.Command("cp", me, w.at("work/bin/program")))
	for _, flag := range []string{"--block", "--block-write"} {
		flags := []string{flag, w.at("work/**/*.sh")}
		if w.refusesPatterns(flags) {
			return
		}
		closed := "EACCES"
		if flag == "--block-write" {
			closed = "OK"
		}
		w.tryAll(w.policyFlags(flags...), []attempt{
			{"run %work/script", "OK", "ran\n"},
			{"run bin/script", "OK", "ran\n"},
			{"run %work/bin/program op args x", "OK", "=OK \"[\\\"x\\\"]\"\n"},
			{"run bin/closed.sh", closed, ""},
			{"run bin/other", closed, ""},
			{"get bin/other", closed, ""},
			{"renameat AT 'bin/script AT 'bin/script.sh", "EACCES", ""},
		})
	}
}

// TestPatternsGit: git works in a project in which a pattern closes names, and
// they stay closed.
func TestPatternsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("the test needs git: %v", err)
	}
	w := newWorld(t)
	w.write("work/.env", "secret")
	for _, flag := range []string{"--block", "--block-write"} {
		flags := []string{flag, w.at("work/**/.env")}
		if w.refusesPatterns(flags) {
			return
		}
		const script = `set -e
rm -rf one two
git init -q one
cd one
git config user.email a@example.org
git config user.name a
mkdir src; echo text > src/f; echo .env > .gitignore
git add .
git commit -q -m first
git mv src lib
git commit -q -m second
git clone -q . ../two
git -C ../two log --format=%s
cat ../two/lib/f
! echo x 2>/dev/null > ../two/lib/.env
echo done
`
		r := finish(t, w.sandbox(w.policyFlags(flags...), "/bin/sh", "-c", script))
		if r.code != 0 || r.stdout != "second\nfirst\ntext\ndone\n" {
			t.Errorf("%s: ended with %d: %s%s", flag, r.code, r.stdout, r.stderr)
		}
	}
}
