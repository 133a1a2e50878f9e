// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"testing"
)

// TestNested: a place with less than the folder around it, by each way of
// listing one. Beside each refusal stands the same call next to the place.
func TestNested(t *testing.T) {
	for _, c := range []struct {
		name     string
		flags    func(w *world) []string
		attempts []attempt
	}{
		{"write block", func(w *world) []string {
			return []string{"--block-write", w.at("work/closed"), "--block-write", w.at("work/later")}
		}, []attempt{
			{"get closed/f", "OK", ""},
			{"list closed", "OK", ""},
			{"put closed/f WRONLY x", "EACCES", ""},
			{"put closed/new WRONLY|CREAT x", "EACCES", ""},
			{"mkdirat AT 'closed/new 0755", "EACCES", ""},
			{"unlinkat AT 'closed/f 0", "EACCES", ""},
			{"fchmodat AT 'closed/f 0600", "EACCES", ""},
			{"fchmodat AT 'closed 0700", "EACCES", ""},
			{"renameat AT 'closed AT 'moved", "EACCES", ""},
			{"renameat AT 'open/f AT 'closed/f", "EACCES", ""},
			{"linkat AT 'closed/f AT 'name 0", "EACCES", ""},
			{"mkdirat AT 'later 0755", "EACCES", ""},
			{"put later WRONLY|CREAT x", "EACCES", ""},
			{"symlinkat 'open AT 'later", "EACCES", ""},
			{"renameat AT 'open AT 'later", "EACCES", ""},
			{"put open/f WRONLY x", "OK", ""},
			{"put made WRONLY|CREAT x", "OK", ""},
			{"fchmodat AT 'made 0600", "OK", ""},
			{"get made", "OK", ""},
			{"mkdirat AT 'folder 0755", "OK", ""},
			{"renameat AT 'made AT 'folder/made", "OK", ""},
			{"renameat AT 'open/f AT 'folder/f", "OK", ""},
			{"unlinkat AT 'folder/f 0", "OK", ""},
		}},
		{"block", func(w *world) []string { return []string{"--block", w.at("work/closed"), "--block", w.at("work/.env")} }, []attempt{
			{"get closed/f", "EACCES", ""},
			{"list closed", "EACCES", ""},
			{"get open/../closed/f", "EACCES", ""},
			{"get /proc/self/cwd/closed/f", "EACCES", ""},
			{"put closed/new WRONLY|CREAT x", "EACCES", ""},
			{"renameat AT 'closed AT 'moved", "EACCES", ""},
			{"linkat AT 'closed/f AT 'name 0", "EACCES", ""},
			{"put .env WRONLY|CREAT x", "EACCES", ""},
			{"get open/f", "OK", ""},
			{"list .", "OK", ""},
			{"put made WRONLY|CREAT x", "OK", ""},
			{"get made", "OK", ""},
		}},
		{"block in a read tree", func(w *world) []string { return []string{"--block", w.at("read/closed")} }, []attempt{
			{"get %read/closed/f", "EACCES", ""},
			{"list %read/closed", "EACCES", ""},
			{"get %read/open/f", "OK", ""},
			{"list %read", "OK", ""},
			{"put %read/open/f WRONLY x", "EACCES", ""},
		}},
		{"read in a write tree", func(w *world) []string { return []string{"--write", w.at("outside"), "--read", w.at("outside/closed")} }, []attempt{
			{"get %outside/closed/f", "OK", ""},
			{"put %outside/closed/f WRONLY x", "EACCES", ""},
			{"put %outside/open/f WRONLY x", "OK", ""},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			for _, tree := range []string{"work", "read", "outside"} {
				for _, dir := range []string{"closed", "open"} {
					w.must(os.MkdirAll(w.at(tree+"/"+dir), 0o755))
					w.write(tree+"/"+dir+"/f", "content")
				}
			}
			w.tryAll(w.policyFlags(c.flags(w)...), c.attempts)
			for _, tree := range []string{"work", "read", "outside"} {
				b, err := os.ReadFile(w.at(tree + "/closed/f"))
				if err != nil || string(b) != "content" {
					t.Errorf("%s/closed/f holds %q: %v", tree, b, err)
				}
			}
			for _, name := range []string{"work/closed/new", "work/.env", "work/later", "work/moved", "work/name"} {
				if fileExists(w.at(name)) {
					t.Errorf("%s was made", name)
				}
			}
		})
	}
}

// TestBlocksOutside: blocks where nothing is granted cost nothing, and one
// that closes the working directory is no policy.
func TestBlocksOutside(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.at("outside/a"), 0o755))
	w.write("outside/a/f", "content")
	w.tryAll(w.policyFlags("--block", w.at("outside"), "--block", w.at("nowhere"), "--block", w.at("nowhere/below"), "--block-write", w.at("read")), []attempt{
		{"get %outside/a/f", "EACCES", ""},
		{"put nested WRONLY|CREAT x", "OK", ""},
	})
	w.refuses(w.policyFlags("--block", w.at("work")), "POLICY_INVALID", w.at("work"))
	w.refuses(w.policyFlags("--block", w.dir), "POLICY_INVALID", w.at("work"))
}
