// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"testing"
)

// TestBlockedLinks: a hard link that a blocked file had before is closed too,
// for callers that the broker can't serve and for such that race with it.
func TestBlockedLinks(t *testing.T) {
	for _, c := range []struct {
		name, file, read string
		flags            func(w *world) []string
	}{
		{"block", "f", "EACCES", func(w *world) []string { return []string{"--block", w.at("work/f")} }},
		{"write block", "f", "OK", func(w *world) []string { return []string{"--block-write", w.at("work/f")} }},
		{"pattern", "p/k.pem", "EACCES", func(w *world) []string { return []string{"--block", w.at("work/p") + "/*.pem"} }},
		{"write pattern", "p/k.pem", "OK", func(w *world) []string { return []string{"--block-write", w.at("work/p") + "/*.pem"} }},
		{"protection", ".git/config", "OK", func(w *world) []string { return nil }},
	} {
		for _, caller := range []struct{ name, op string }{
			{"served", "get e/free"},
			{"undumpable", "prctl 4 0 0 0 0"},
			{"own domain", "restrict-to ."},
		} {
			t.Run(c.name+" "+caller.name, func(t *testing.T) {
				w := newWorld(t)
				w.makeLinked(c.file)
				w.tryAll(w.policyFlags(c.flags(w)...), []attempt{
					{caller.op, "OK", ""},
					{"get e/free", "OK", "free"},
					{"put other/free WRONLY x", "OK", ""},
					{"get e/h", c.read, ""},
					{"get e/deep/h", c.read, ""},
					{"put e/h WRONLY x", "EACCES", ""},
					{"put e/deep/h WRONLY x", "EACCES", ""},
					{"put " + c.file + " WRONLY x", "EACCES", ""},
					{"truncate 'e/h 0", "EACCES", ""},
				})
				if text, err := os.ReadFile(w.at("work/" + c.file)); err != nil || string(text) != "secret" {
					t.Errorf("the file holds %q: %v", text, err)
				}
			})
		}
		t.Run(c.name+" racing", func(t *testing.T) {
			w := newWorld(t)
			w.makeLinked(c.file)
			flags := "WRONLY"
			if c.read != "OK" {
				flags = "RDONLY"
			}
			w.tryAll(w.policyFlags(c.flags(w)...), []attempt{
				{"swing other/to-free other/to-free2 e/h " + flags, "OK", "opened true stolen false"},
				{"swing other/to-free other/to-h e/h " + flags, "OK", "opened true stolen false"},
			})
		})
	}
}

// makeLinked makes a file that has two other names, and what stands beside.
func (w *world) makeLinked(file string) {
	w.Helper()
	for _, dir := range []string{".git", "p", "e/deep", "other"} {
		w.must(os.MkdirAll(w.at("work/"+dir), 0o755))
	}
	w.write("work/"+file, "secret")
	w.write("work/e/free", "free")
	w.write("work/other/free", "free")
	for _, name := range []string{"e/h", "e/deep/h"} {
		w.must(os.Link(w.at("work/"+file), w.at("work/"+name)))
	}
	for name, to := range map[string]string{"to-free": "free", "to-free2": "free", "to-h": "../e/h"} {
		w.must(os.Symlink(to, w.at("work/other/"+name)))
	}
}

// TestBlockedLinkOutside: a name in what is not granted for the access that the
// block takes away is out of reach anyway, and no reason not to run.
func TestBlockedLinkOutside(t *testing.T) {
	w := newWorld(t)
	w.makeLinked("f")
	for _, name := range []string{"outside/h", "read/h"} {
		w.must(os.Link(w.at("work/f"), w.at(name)))
	}
	w.tryAll(w.policyFlags("--block-write", w.at("work/f")), []attempt{
		{"put other/free WRONLY x", "OK", ""},
		{"put e/h WRONLY x", "EACCES", ""},
		{"put %read/h WRONLY x", "EACCES", ""},
		{"put %outside/h WRONLY x", "EACCES", ""},
		{"get %read/h", "OK", "secret"},
	})
}
