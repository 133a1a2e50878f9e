// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"testing"
)

// TestWithinLandlock: a program that restricts itself further with Landlock,
// as it would outside, gets nothing from the broker that its own domain
// denies: neither on the thread that did it, nor by what it starts. What its
// domain grants it keeps, where a rule of the outer sandbox grants it too.
func TestWithinLandlock(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags func(w *world) []string
	}{
		{"nothing nested", func(w *world) []string { return nil }},
		{"write block", func(w *world) []string { return []string{"--block-write", w.at("work/closed")} }},
		{"block", func(w *world) []string { return []string{"--block", w.at("work/closed")} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			for _, dir := range []string{"closed", "own", "other"} {
				w.must(os.MkdirAll(w.at("work/"+dir), 0o755))
			}
			for _, name := range []string{"f", "g", "h", "i"} {
				w.write("work/"+name, "content")
			}
			flags := w.policyFlags(c.flags(w)...)
			cut := "EACCES"
			if landlockABI() < abiTruncate { // no domain of that kernel denies it
				cut = "OK"
			}
			w.tryAll(flags, []attempt{
				{"elsewhere put before WRONLY|CREAT x", "OK", ""},
				{"put f WRONLY x", "OK", ""},
				{"put made WRONLY|CREAT x", "OK", ""},
				{"mkdirat AT 'folder 0755", "OK", ""},
				{"put own/f WRONLY|CREAT x", "OK", ""},
				{"fchmodat AT 'f 0600", "OK", ""},
				{"add_key 0 0 0 0 0", "ENOSYS", ""},

				{"restrict-to own", "OK", ""},

				{"add_key 0 0 0 0 0", "EDOM", ""},
				{"get f", "OK", ""},
				{"put own/f WRONLY|TRUNC x", "OK", ""},
				{"put own/made WRONLY|CREAT x", "OK", ""},
				{"mkdirat AT 'own/folder 0755", "OK", ""},
				{"unlinkat AT 'own/made 0", "OK", ""},
				{"put f WRONLY x", "EACCES", ""},
				{"put f RDONLY|TRUNC x", "EACCES", ""},
				{"put more WRONLY|CREAT x", "EACCES", ""},
				{"put other/more WRONLY|CREAT x", "EACCES", ""},
				{"openat AT '. TMPFILE|RDWR 0600", "EACCES", ""},
				{"truncate 'f 0", cut, ""},
				{"mkdirat AT 'dir 0755", "EACCES", ""},
				{"mknodat AT 'fifo FIFO|0600 0", "EACCES", ""},
				{"symlinkat 'f AT 'link", "EACCES", ""},
				{"linkat AT 'f AT 'name 0", "EACCES", ""},
				{"renameat AT 'g AT 'moved", "EACCES", ""},
				{"unlinkat AT 'g 0", "EACCES", ""},
				{"unlinkat AT 'folder REMOVEDIR", "EACCES", ""},
				{"as-orphan put f WRONLY x", "EACCES", ""},
				{"as-orphan put more WRONLY|CREAT x", "EACCES", ""},
				{"as-orphan put own/f WRONLY x", "OK", ""},
				{"as-orphan unlinkat AT 'h 0", "EACCES", ""},
				// Landlock does not cover it, in no domain.
				{"fchmodat AT 'f 0640", "OK", ""},
			})
			// Another program of the same sandbox, beside it, is not concerned.
			both := [][]string{{"as-orphan", "put", "beside", "WRONLY|CREAT", "x"}, {"put", "i", "WRONLY", "x"}}
			for i, r := range w.inside(flags, both...) {
				if r.outcome != "OK" {
					t.Errorf("%v: %v", both[i], r)
				}
			}
			for _, name := range []string{"more", "other/more", "dir", "fifo", "link", "name", "moved"} {
				if fileExists(w.at("work/" + name)) {
					t.Errorf("%s was made", name)
				}
			}
			for _, name := range []string{"g", "h", "folder"} {
				if !fileExists(w.at("work/" + name)) {
					t.Errorf("%s was removed", name)
				}
			}
		})
	}
}

// TestWithinLandlockConnect: the same for connections, which an inner domain
// can forbid from Landlock ABI 4 (TCP) and 6 (abstract sockets) on. One that
// could not be told from a forbidden one is refused too.
func TestWithinLandlockConnect(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.at("work/own"), 0o755))
	tcp := greet(t, "tcp4", "127.0.0.1:0")
	path := greet(t, "unix", w.at("work/socket"))
	abstract := fmt.Sprintf("@ambit-backendtest-within-%d", os.Getpid())
	toTCP, toSelf := "talk "+tcp.Addr().String()+" stream", "serve "+abstract+" stream"
	self := attempt{toSelf, "OK", "word"}
	if landlockABI() < abiScope {
		self = attempt{toSelf, "EPERM", ""} // without an inner domain too
	}
	inner := self
	if landlockABI() < abiUnix {
		inner = attempt{toSelf, "EPERM", ""} // the broker does not know whose it is
	}
	w.tryAll(w.policyFlags("--allow-network"), []attempt{
		{toTCP, "OK", "hello"},
		{"talk %work/socket stream", "OK", "hello"},
		self,
		{"restrict-to own", "OK", ""},
		{toTCP, "EACCES", "connect"},
		{"as-orphan " + toTCP, "EACCES", "connect"},
		inner,
	})
	if n := tcp.met.Load() + path.met.Load(); n != 2 {
		t.Errorf("%d connections arrived, want 2", n)
	}
}
