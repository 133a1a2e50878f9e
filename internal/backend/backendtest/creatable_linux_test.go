// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"strings"
	"testing"
)

// creatable runs a command under flags, and returns what the receipt says of a
// path.
func (w *world) creatable(path string, flags []string, script string) (result, string) {
	w.Helper()
	r := finish(w, w.sandbox(append([]string{"--json"}, w.policyFlags(flags...)...), "/bin/sh", "-c", script))
	ans := decode[answer](w.T, r.stdout)
	for _, p := range ans.Receipt.Paths {
		if p.Path == path && p.Kind == "write" {
			return result{code: ans.ExitCode, stdout: ans.Stdout, stderr: ans.Stderr}, p.Status
		}
	}
	w.Fatalf("the receipt says nothing of %s: %s", path, r.stdout)
	return result{}, ""
}

// TestCreatable: a write grant of what is missing is one of the name: the
// command makes it, uses it, removes it and makes it again, and makes nothing
// beside it. Nothing is said of it on stderr.
func TestCreatable(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	w := newWorld(t)
	w.must(os.Mkdir(w.at("outside/old"), 0o755))
	w.write("outside/old/f", "secret")
	w.write("outside/data", "secret")
	for _, dir := range []string{"outside", "read", "home"} {
		flags := w.policyFlags("--write", w.at(dir+"/new"), "--write", w.at(dir+"/a/b/c"))
		var as []attempt
		for _, try := range []struct{ op, want string }{
			{"mkdirat AT '%D/new 0755", "OK"},
			{"put %D/new/f WRONLY|CREAT x", "OK"},
			{"get %D/new/f", "OK"},
			{"list %D/new", "OK"},
			{"mkdirat AT '%D/new/sub 0755", "OK"},
			{"put %D/new/sub/f WRONLY|CREAT x", "OK"},
			{"fchmodat AT '%D/new 0700", "OK"},
			{"renameat AT '%D/new AT 'moved", "OK"},
			{"get moved/sub/f", "OK"},
			{"renameat AT 'moved AT '%D/new", "OK"},
			{"renameat AT '%D/new AT '%D/new2", "EACCES"},
			{"unlinkat AT '%D/new/f 0", "OK"},
			{"unlinkat AT '%D/new/sub/f 0", "OK"},
			{"unlinkat AT '%D/new/sub REMOVEDIR", "OK"},
			{"unlinkat AT '%D/new REMOVEDIR", "OK"},
			{"put %D/new WRONLY|CREAT|EXCL text", "OK"},
			{"put %D/new WRONLY|TRUNC again", "OK"},
			{"get %D/new", "OK"},
			{"put plain WRONLY|CREAT x", "OK"},
			{"renameat AT 'plain AT '%D/new", "OK"},
			{"linkat AT '%D/new AT 'name 0", "OK"},
			{"unlinkat AT '%D/new 0", "OK"},
			{"linkat AT 'name AT '%D/new 0", "OK"},
			{"unlinkat AT '%D/new 0", "OK"},
			{"unlinkat AT 'name 0", "OK"},
			{"symlinkat '%outside/old AT '%D/new", "OK"},
			{"put %D/new/f WRONLY x", "EACCES"},
			{"put %D/new/more WRONLY|CREAT x", "EACCES"},
			{"get %D/new/f", "EACCES"},
			{"unlinkat AT '%D/new 0", "OK"},
			{"mkdirat AT '%D/new2 0755", "EACCES"},
			{"put %D/new2 WRONLY|CREAT x", "EACCES"},
			{"symlinkat 'new AT '%D/new2", "EACCES"},
			{"put %D/ne WRONLY|CREAT x", "EACCES"},
			{"fchmodat AT '%D 0700", "EACCES"},
			{"put %D/a WRONLY|CREAT x", "EACCES"},
			{"symlinkat '%work AT '%D/a", "EACCES"},
			{"mkdirat AT '%D/a 0755", "OK"},
			{"mkdirat AT '%D/a/c 0755", "EACCES"},
			{"mkdirat AT '%D/a/b 0755", "OK"},
			{"put %D/a/b/c WRONLY|CREAT x", "OK"},
			{"put %D/a/b/d WRONLY|CREAT x", "EACCES"},
			{"unlinkat AT '%D/a/b/c 0", "OK"},
			{"unlinkat AT '%D/a/b REMOVEDIR", "EACCES"},
			{"get %outside/data", "EACCES"},
		} {
			as = append(as, attempt{strings.ReplaceAll(try.op, "%D", "%"+dir), try.want, ""})
		}
		w.tryAll(flags, as)
		for _, name := range []string{"new", "new2", "ne", "a/c", "a/b/c", "a/b/d"} {
			if fileExists(w.at(dir + "/" + name)) {
				t.Errorf("%s/%s is there", dir, name)
			}
		}
		w.must(os.RemoveAll(w.at(dir + "/a")))
		if r, status := w.creatable(w.at(dir+"/new"), []string{"--write", w.at(dir + "/new")}, "true"); status != "creatable" || r.code != 0 || r.stderr != "" {
			t.Errorf("%s: %s, %+v", dir, status, r)
		}
	}
}

// TestCreatableSaid: on a kernel without a broker nothing can be made, and the
// receipt says that the path is missing.
func TestCreatableSaid(t *testing.T) {
	w := newWorld(t)
	path := w.at("outside/new")
	r, status := w.creatable(path, []string{"--write", path}, "mkdir ../outside/new")
	if can := landlockABI() >= abiRefer; (status == "creatable") != can || (r.code == 0) != can || fileExists(path) != can || !can && status != "missing" {
		t.Errorf("%s, %+v", status, r)
	}
}

// TestCreatableExecutes: programs that a command makes at a new place, or below
// it, can be executed, also where the name was given to something else first.
func TestCreatableExecutes(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	w := newWorld(t)
	for _, dir := range []string{"outside", "read"} {
		script := `set -e; new=../` + dir + `/new; tool() { printf '#!/bin/sh\necho ran\n' > $1; chmod +x $1; }
mkdir $new; tool $new/tool; $new/tool; mkdir $new/bin; tool $new/bin/tool; $new/bin/tool; rm -r $new
tool $new; $new; rm $new; mkdir sub; tool sub/tool; mv sub $new; $new/tool; tool $new/other; $new/other
mkdir -p ../` + dir + `/a/b; tool ../` + dir + `/a/b/tool; ../` + dir + `/a/b/tool`
		r := finish(t, w.sandbox(w.policyFlags("--write", w.at(dir+"/new"), "--write", w.at(dir+"/a/b")), "/bin/sh", "-c", script))
		if r.code != 0 || r.stdout != strings.Repeat("ran\n", 6) {
			t.Errorf("%s: %+v", dir, r)
		}
	}
}

// TestCreatableEarlier: what a command makes at a new place chooses nothing that
// a later run is granted there, and a link that one has made leads to no new
// place.
func TestCreatableEarlier(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	for name, c := range map[string]twice{
		"a link":              {flags: []string{"--write", "../outside/new"}, first: "ln -s $HOME ../outside/new", second: "cat ../outside/new/.ssh/id", says: "outside/new"},
		"a link on the way":   {flags: []string{"--write", "../outside/new/x"}, first: "mkdir ../outside/new; ln -s $HOME/.ssh ../outside/new/x", second: "cat ../outside/new/x/id", says: "outside/new/x"},
		"a dangling link":     {flags: []string{"--write", "../outside/new"}, first: "ln -s $HOME/.ssh/key ../outside/new", second: "echo > ../outside/new", says: "outside/new"},
		"to what may be made": {flags: []string{"--write", "build"}, first: "rmdir build && ln -s $HOME/.ssh/key build", second: "echo > build", says: "work/build"},
	} {
		t.Run(name, func(t *testing.T) { newWorld(t).twice(c) })
	}
}
