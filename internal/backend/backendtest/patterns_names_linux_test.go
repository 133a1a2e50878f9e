// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// deepFolder makes a folder whose name is n bytes long.
func (w *world) deepFolder(n int) string {
	w.Helper()
	name := w.at("work")
	for len(name) < n {
		part := min(200, n-len(name)-1)
		if n-len(name)-1-part == 1 { // would leave room for a slash alone
			part--
		}
		name += "/" + strings.Repeat("d", part)
	}
	w.must(os.MkdirAll(name, 0o755))
	return name
}

// TestPatternsLongNames: what a pattern closes is closed too where its whole
// name is longer than the kernel could say (PATH_MAX).
func TestPatternsLongNames(t *testing.T) {
	w := newWorld(t)
	flags := []string{"--block", w.at("work/**/.env"), "--block-write", w.at("work/**/.cfg")}
	if w.refusesPatterns(flags) {
		return
	}
	dir := w.deepFolder(4093)
	root, err := os.OpenRoot(dir)
	w.must(err)
	defer func() { _ = root.Close() }()
	files := []string{"f", ".env", ".cfg"}
	for _, name := range files {
		w.must(root.WriteFile(name, []byte("content"), 0o644))
	}
	if _, err := os.Stat(dir + "/.env"); err == nil || !strings.Contains(err.Error(), syscall.ENAMETOOLONG.Error()) {
		t.Fatalf("not a long name: %v", err)
	}
	in := func(script string) result {
		return finish(t, w.sandbox(w.policyFlags(flags...), "/bin/sh", "-c", `cd "$1" && `+script, "sh", dir))
	}
	if r := in("cat f && echo more >>f"); r.code != 0 || r.stdout != "content" {
		t.Errorf("control: %d %q\n%s", r.code, r.stdout, r.stderr)
	}
	if r := in("cat .env"); r.code == 0 || r.stdout != "" {
		t.Errorf("read: %d %q", r.code, r.stdout)
	}
	for _, name := range files[1:] {
		for _, script := range []string{"echo more >>" + name, ": >" + name, "truncate -s 0 " + name} {
			if r := in(script); r.code == 0 {
				t.Errorf("%s worked", script)
			}
		}
		if b, err := root.ReadFile(name); err != nil || string(b) != "content" {
			t.Errorf("%s holds %q: %v", name, b, err)
		}
	}
}

// TestPatternsProc: a file of /proc answers by who has opened it. So none is
// opened by the supervisor: not what is another process's, whatever patterns
// reach there.
func TestPatternsProc(t *testing.T) {
	w := newWorld(t)
	victim := w.startVictim()
	others := []string{"environ", "maps", "mem", "auxv", fmt.Sprintf("task/%d/environ", victim.Process.Pid)}
	for _, name := range others[:2] {
		if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", victim.Process.Pid, name)); err != nil {
			t.Fatalf("control: %v", err)
		}
	}
	for pattern, own := range map[string]string{"/proc/**/no.such": "EACCES", "/*/no.such": "OK"} {
		t.Run(strings.ReplaceAll(pattern, "/", "_"), func(t *testing.T) {
			w := w.as(t)
			flags := []string{"--block", pattern}
			if w.refusesPatterns(flags) {
				return
			}
			attempts := []attempt{{"get /proc/self/comm", own, ""}}
			for _, name := range others {
				attempts = append(attempts, attempt{fmt.Sprintf("get /proc/%d/%s", victim.Process.Pid, name), "EACCES", ""})
			}
			w.tryAll(w.policyFlags(flags...), attempts)
		})
	}
}
