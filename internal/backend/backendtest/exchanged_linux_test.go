// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"strings"
	"testing"
)

// TestExchangedOutside: a directory with a rule that a process outside moves
// to a blocked name while the command runs is closed under that name for every
// call that the broker gets, also to a program in a domain of its own.
func TestExchangedOutside(t *testing.T) {
	for _, c := range []struct {
		name, blocked, read string
		flags               func(w *world) []string
	}{
		{"block", "secrets", "EACCES", func(w *world) []string { return []string{"--block", w.at("work/secrets")} }},
		{"write block", "secrets", "OK", func(w *world) []string { return []string{"--block-write", w.at("work/secrets")} }},
		{"pattern", "secrets", "EACCES", func(w *world) []string { return []string{"--block", w.at("work") + "/sec*"} }},
		{"protection", ".git/hooks", "OK", func(w *world) []string { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			for _, dir := range []string{c.blocked, "staging", "e"} {
				w.must(os.MkdirAll(w.at("work/"+dir), 0o755))
			}
			p := w.converse(w.policyFlags(c.flags(w)...))
			p.expect("mkdirat AT 'own 0755", "OK", "")
			for _, dir := range []string{"staging", "own"} {
				p.expect("put "+dir+"/f WRONLY|CREAT x", "OK", "")
				w.must(os.RemoveAll(w.at("work/" + c.blocked)))
				w.must(os.Rename(w.at("work/"+dir), w.at("work/"+c.blocked)))
				w.fillExchanged(c.blocked)
				p.tryExchanged(c.blocked, c.read)
			}
			p.expect("restrict-to .", "OK", "")
			w.fillExchanged("e")
			for _, op := range []string{"renameat AT 'DIR/k AT 'e/out", "put DIR/pre-commit WRONLY|CREAT x", "mkdirat AT 'DIR/new 0755", "unlinkat AT 'DIR/k 0"} {
				p.expect(strings.ReplaceAll(op, "DIR", c.blocked), "EACCES", "")
			}
			p.expect("get "+c.blocked+"/k", c.read, "")
			for _, op := range []string{"put e/more WRONLY|CREAT x", "renameat AT 'e/k AT 'e/moved", "mkdirat AT 'e/new 0755", "linkat AT 'e/moved AT 'e/out3 0", "get e/k2"} {
				p.expect(op, "OK", "")
			}
		})
	}
}

// fillExchanged makes what the calls are tried on.
func (w *world) fillExchanged(dir string) {
	w.Helper()
	for _, name := range []string{"k", "k2"} {
		w.write("work/"+dir+"/"+name, "secret")
	}
	w.must(os.WriteFile(w.at("work/"+dir+"/tool"), []byte("#!/bin/sh\necho ran\n"), 0o755))
	w.must(os.Chmod(w.at("work/"+dir+"/tool"), 0o755))
	w.must(os.MkdirAll(w.at("work/"+dir+"/dir"), 0o755))
}

// tryExchanged makes every call in a blocked directory.
func (c *conversation) tryExchanged(blocked, read string) {
	c.w.Helper()
	for _, try := range []struct{ op, want string }{
		{"get DIR/k", read},
		{"list DIR", read},
		{"run DIR/tool", read},
		{"put DIR/k WRONLY x", "EACCES"},
		{"put DIR/pre-commit WRONLY|CREAT x", "EACCES"},
		{"openat AT 'DIR TMPFILE|RDWR 0600", "EACCES"},
		{"truncate 'DIR/k 0", "EACCES"},
		{"mkdirat AT 'DIR/new 0755", "EACCES"},
		{"mknodat AT 'DIR/new FIFO|0600 0", "EACCES"},
		{"symlinkat 'k AT 'DIR/new", "EACCES"},
		{"linkat AT 'DIR/k AT 'e/out 0", "EXDEV"},
		{"linkat AT 'e/k AT 'DIR/new 0", "EACCES"},
		{"renameat AT 'DIR/k AT 'e/out", "EACCES"},
		{"renameat AT 'e/k AT 'DIR/new", "EACCES"},
		{"renameat2 AT 'e/k AT 'DIR/k EXCHANGE", "EACCES"},
		{"unlinkat AT 'DIR/k 0", "EACCES"},
		{"unlinkat AT 'DIR/dir 0x200", "EACCES"},
		{"fchmodat AT 'DIR/k 0600", "EACCES"},
	} {
		c.w.must(os.RemoveAll(c.w.at("work/free")))
		c.w.must(os.MkdirAll(c.w.at("work/free"), 0o755))
		c.w.must(os.RemoveAll(c.w.at("work/e/out")))
		c.w.fillExchanged("free")
		c.w.fillExchanged("e")
		c.expect(strings.ReplaceAll(try.op, "DIR", "free"), "OK", "")
		c.w.must(os.RemoveAll(c.w.at("work/e/out")))
		c.w.fillExchanged("e")
		c.expect(strings.ReplaceAll(try.op, "DIR", blocked), try.want, "")
	}
	if read != "OK" { // what works here does not return
		c.expect("execveat ="+blocked+"/tool ' 0 0 EMPTY", "EACCES", "")
	}
}
