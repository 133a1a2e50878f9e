// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// attempt is an operation with what must come of it.
type attempt struct {
	op   string // a leading "%" of a word is the world's folder
	want string
	// detail is what must come with it, if not "".
	detail string
}

// tryAll makes all attempts in one sandbox.
func (w *world) tryAll(flags []string, attempts []attempt) {
	w.Helper()
	attempts = supported(attempts)
	var ops [][]string
	for _, a := range attempts {
		ops = append(ops, words(a.op, w.dir))
	}
	for i, r := range w.inside(flags, ops...) {
		attempts[i].judge(w.T, r)
	}
}

func supported(attempts []attempt) (out []attempt) {
	for _, a := range attempts {
		if !archOnly(a.op) {
			out = append(out, a)
		}
	}
	return out
}

// judge makes a subtest of an attempt.
func (a attempt) judge(t *testing.T, got reply) {
	t.Helper()
	t.Run(a.op, func(t *testing.T) {
		if got.outcome != a.want || a.detail != "" && got.detail != a.detail {
			t.Errorf("%s (%s), want %s %s", got.outcome, got.detail, a.want, a.detail)
		}
	})
}

// TestRead: read trees and write trees can be read, listed and executed, and
// nothing else can.
func TestRead(t *testing.T) {
	w := newWorld(t)
	for _, place := range []string{"work/o", "read/o", "outside/o"} {
		makeObjects(t, w.at(place))
		w.must(os.Symlink(w.at("outside/o"), w.at(place+"/out")))
		w.must(os.Symlink(w.at("read/o"), w.at(place+"/into")))
	}
	var as []attempt
	for place, open := range map[string]bool{"work": true, "read": true, "outside": false} {
		want := func(detail string) (string, string) {
			if open {
				return "OK", detail
			}
			return "EACCES", ""
		}
		add := func(op, detail string) {
			outcome, detail := want(detail)
			as = append(as, attempt{strings.ReplaceAll(op, "HERE", place+"/o"), outcome, detail})
		}
		add("get %HERE/f", "content")
		add("get %HERE/l", "content")
		add("get %HERE/d/in", "inner")
		add("get %HERE/d/../f", "content")
		add("get %HERE/../o/./f", "content")
		add("openat AT '%HERE/f RDONLY", "")
		add("openat AT '%HERE/d RDONLY|DIRECTORY", "")
		add("openat AT '%HERE/p RDONLY|NONBLOCK", "")
		add("overopen %HERE/d/in RDONLY", "")
		add("getat %HERE f", "content")
		add("getat %HERE/d ../f", "content")
		add("list %HERE/d", "in")
		add("run %HERE/x", "ran\n")
		add("run /bin/sh %HERE/x", "ran\n")
		// Where the link lies does not matter, but what it leads to does.
		as = append(as,
			attempt{"get %" + place + "/o/out/f", "EACCES", ""},
			attempt{"get %" + place + "/o/into/f", "OK", "content"},
			// What is there can be seen to be there (landlock(7), "NOTES").
			attempt{"stat %" + place + "/o/f", "OK", "100644"})
	}
	for i, a := range as {
		switch {
		case strings.HasPrefix(a.op, "run /bin/sh") && a.want != "OK":
			as[i].want = "exit_status_2" // the shell's own words for a script it can't read
		case strings.HasPrefix(a.op, "overopen") && landlockABI() < abiTruncate:
			as[i].want = "ENOSYS"
		}
	}
	before := exact(t, w.at("outside"))
	w.tryAll(w.policyFlags(), as)
	if after := exact(t, w.at("outside")); after != before {
		t.Errorf("something changed outside:\n%s\nbefore:\n%s", after, before)
	}
}

// forms makes a file in a place, and returns the names that lead to it.
func (w *world) forms(place string) []string {
	w.Helper()
	target := w.write(place+"/f", "content")
	w.must(os.Symlink(target, w.at("work/to-"+place)))
	w.must(os.Symlink(w.at(place), w.at("work/dir-"+place)))
	w.must(os.Symlink("../work/to-"+place, w.at("work/chain-"+place)))
	return []string{
		target, "/" + target, "/proc/self/root" + target, "/proc/thread-self/root" + target,
		"../" + place + "/f", "/proc/self/cwd/../" + place + "/f", "/proc/self/cwd/to-" + place,
		w.at("work/to-" + place), w.at("work/chain-" + place), w.at("work/dir-" + place + "/f"),
		w.at("work/dir-" + place + "/../" + place + "/f"), "/../../.." + target,
	}
}

// pinnedForms are names of an object that descriptor N holds.
var pinnedForms = []string{"/proc/self/fd/N", "/dev/fd/N", "/proc/thread-self/fd/N", "/proc/self/root/proc/self/fd/N"}

// TestForms: the same file under every name that leads to it.
func TestForms(t *testing.T) {
	w := newWorld(t)
	var ops [][]string
	var want []string
	for _, place := range []struct{ name, read, write string }{
		{"work", "OK", "OK"}, {"read", "OK", "EACCES"}, {"outside", "EACCES", "EACCES"},
	} {
		for _, form := range w.forms(place.name) {
			ops = append(ops, []string{"get", form}, []string{"put", form, "WRONLY", "CONTENT"}, []string{"put", form, "WRONLY|TRUNC", "CONTENT"})
			want = append(want, place.read, place.write, place.write)
		}
		for _, form := range pinnedForms {
			name := w.at(place.name + "/f")
			ops = append(ops, []string{"through", name, form, "RDONLY"}, []string{"through", name, form, "WRONLY", "CONTENT"})
			want = append(want, place.read, place.write)
		}
	}
	before := map[string]string{"read": exact(t, w.at("read")), "outside": exact(t, w.at("outside"))}
	for i, r := range w.inside(w.policyFlags(), ops...) {
		t.Run(fmt.Sprintf("%q", ops[i]), func(t *testing.T) {
			if r.outcome != want[i] {
				t.Errorf("%s (%s), want %s", r.outcome, r.detail, want[i])
			}
		})
	}
	for place, was := range before {
		if now := exact(t, w.at(place)); now != was {
			t.Errorf("something changed in %q:\n%s\nbefore:\n%s", place, now, was)
		}
	}
	if b, err := os.ReadFile(w.at("work/f")); string(b) != "CONTENT" {
		t.Errorf("the write tree's file holds %q (%v), want what was written", b, err)
	}
}

// TestCloseBy: names that begin like a granted one, or lie above it, are not
// granted with it.
func TestCloseBy(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"workshop", "read.bak"} {
		w.must(os.Mkdir(w.at(name), 0o755))
		w.write(name+"/f", "content")
	}
	w.write("above", "content")
	w.write("work/f", "content")
	w.tryAll(w.policyFlags("--read", w.at("missing")), []attempt{
		{"get %workshop/f", "EACCES", ""},
		{"get %read.bak/f", "EACCES", ""},
		{"get %above", "EACCES", ""},
		{"list %", "EACCES", ""},
		{"put %missing WRONLY|CREAT x", "EACCES", ""},
		{"mkdirat AT '%missing 0755", "EACCES", ""},
		{"get %work/f", "OK", "content"},
	})
	if fileExists(w.at("missing")) {
		t.Error("a listed path that is missing was made")
	}
}
