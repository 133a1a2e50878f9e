// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNames: a name may hold any byte but NUL and "/", in a flag and in what
// the command does.
func TestNames(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{
		"with space", " ", "new\nline", "tab\tand\x01control\x7f", `quote"'back\slash`, "-dash", "--read", "~", "a,b:c=d;e[x]{y}",
		"umläut-日本", "not utf-8 \xff\xfe\xc3", strings.Repeat("n", 255), strings.Repeat("\xe4", 255), "...", "(deleted)", "x (deleted)",
	} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			w := w.as(t)
			for _, place := range []string{"write", "read", "closed"} {
				w.must(os.MkdirAll(w.at("outside/"+place+"/"+name), 0o755))
				w.write("outside/"+place+"/"+name+"/"+name, "content")
			}
			file := func(place string) string { return w.at("outside/" + place + "/" + name + "/" + name) }
			flags := w.policyFlags("--write", w.at("outside/write/"+name), "--read", w.at("outside/read/"+name))
			before := exact(t, w.at("outside/read")) + exact(t, w.at("outside/closed"))
			var ops [][]string
			for _, place := range []string{"write", "read", "closed"} {
				ops = append(ops, []string{"get", file(place)}, []string{"put", file(place), "WRONLY", "CONTENT"}, []string{"fchmodat", "AT", "'" + file(place), "0640"})
			}
			var got []string
			for _, r := range w.inside(flags, ops...) {
				got = append(got, r.outcome)
			}
			if s := strings.Join(got, " "); s != "OK OK OK OK EACCES EACCES EACCES EACCES EACCES" {
				t.Errorf("get, put, chmod in a write tree, a read tree and outside: %s", s)
			}
			if after := exact(t, w.at("outside/read")) + exact(t, w.at("outside/closed")); after != before {
				t.Errorf("something changed:\n%s\nbefore:\n%s", after, before)
			}
			if b, err := os.ReadFile(file("write")); string(b) != "CONTENT" {
				t.Errorf("the write tree's file holds %q (%v)", b, err)
			}
			w.must(os.RemoveAll(w.at("outside/write")))
		})
	}
}

// TestWorkDirNames: the same for the folder that the command runs in.
func TestWorkDirNames(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"with space", "new\nline", "*?[x]", "${HOME}", "$${HOME}", "~", "-dash", "not utf-8 \xff\xfe", strings.Repeat("n", 255), "x (deleted)"} {
		t.Run(fmt.Sprintf("%.20q", name), func(t *testing.T) {
			w := w.as(t)
			w.must(os.Mkdir(w.at("outside/"+name), 0o755))
			cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{
				{"put", "f", "WRONLY|CREAT", "content"}, {"get", w.at("outside/" + name + "/f")}, {"fchmodat", "AT", "'f", "0600"}, {"get", "../../read"}, {"list", ".."},
			})...)
			cmd.Dir = w.at("outside/" + name)
			var got []string
			for _, r := range replies(t, finish(t, cmd), 5) {
				got = append(got, r.outcome)
			}
			if s := strings.Join(got, " "); s != "OK OK OK EISDIR EACCES" {
				t.Errorf("%s", s)
			}
		})
	}
}

// TestLongPath: names up to what a system call takes (PATH_MAX, 4096 with the
// NUL).
func TestLongPath(t *testing.T) {
	w := newWorld(t)
	deep := func(place string) string {
		dir := w.at("outside/" + place)
		for len(dir) < 4096-1-2*len("/file")-200 {
			dir += "/" + strings.Repeat("d", 199)
		}
		dir += "/" + strings.Repeat("e", 4096-1-len("/file")-1-len(dir))
		w.must(os.MkdirAll(dir, 0o755))
		w.must(os.WriteFile(dir+"/file", []byte("content"), 0o644))
		return dir
	}
	write, read, closed := deep("write"), deep("read"), deep("closed")
	if n := len(read + "/file"); n != 4095 {
		t.Fatalf("the path has %d bytes", n)
	}
	var got []string
	for _, r := range w.inside(w.policyFlags("--write", write, "--read", read),
		[]string{"get", write + "/file"}, []string{"put", write + "/file", "WRONLY", "x"}, []string{"fchmodat", "AT", "'" + write + "/file", "0640"},
		[]string{"get", read + "/file"}, []string{"put", read + "/file", "WRONLY", "x"}, []string{"fchmodat", "AT", "'" + read + "/file", "0640"},
		[]string{"get", closed + "/file"}, []string{"fchmodat", "AT", "'" + closed + "/file", "0640"},
		[]string{"get", read + "/files"}) {
		got = append(got, r.outcome)
	}
	if s := strings.Join(got, " "); s != "OK OK OK OK EACCES EACCES EACCES EACCES ENAMETOOLONG" {
		t.Errorf("%s", s)
	}
}

// TestManyRules: thousands of listed paths, by flags and by a file.
func TestManyRules(t *testing.T) {
	const count = 3000
	w := newWorld(t)
	var flags, reads, writes []string
	for i := range count {
		for _, kind := range []string{"read", "write"} {
			w.must(os.MkdirAll(w.at(fmt.Sprintf("outside/%s/%d/d", kind, i)), 0o755))
		}
		reads = append(reads, w.at(fmt.Sprintf("outside/read/%d", i)))
		writes = append(writes, w.at(fmt.Sprintf("outside/write/%d", i)))
		flags = append(flags, "--read", reads[i])
	}
	w.must(os.MkdirAll(w.at(fmt.Sprintf("outside/read/%d", count)), 0o755))
	b, err := json.Marshal(map[string]any{"extends": "workspace", "read_paths": append(reads, self(t)), "write_paths": writes})
	w.must(err)
	policy := w.write("outside/policy.json", string(b))
	check := func(flags []string, written string) {
		t.Helper()
		begin := time.Now()
		var as []attempt
		for _, i := range []int{0, 1, count / 2, count - 1} {
			as = append(as, attempt{fmt.Sprintf("list %%outside/read/%d", i), "OK", "d"},
				attempt{fmt.Sprintf("mkdirat AT '%%outside/read/%d/new 0755", i), "EACCES", ""},
				attempt{fmt.Sprintf("mkdirat AT '%%outside/write/%d/new 0755", i), written, ""})
		}
		as = append(as, attempt{fmt.Sprintf("list %%outside/read/%d", count), "EACCES", ""}, attempt{"list %outside/read", "EACCES", ""})
		w.tryAll(flags, as)
		if d := time.Since(begin); d > patience(3*time.Second) {
			t.Errorf("it took %v", d)
		}
	}
	check(w.policyFlags(flags...), "EACCES")
	check([]string{"--policy", policy}, "OK")
}

// TestMissing: a listed path that is not there, or that can't be looked up, is
// reported, and the others hold; in strict mode nothing runs. One for writing that
// is not there can be made (TestCreatable), where there is a broker.
func TestMissing(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.at("outside/shut/in"), 0o755))
	w.must(os.Chmod(w.at("outside/shut"), 0))
	t.Cleanup(func() { _ = os.Chmod(w.at("outside/shut"), 0o755) })
	w.must(os.Symlink("loop", w.at("outside/loop")))
	w.must(os.Symlink("nowhere", w.at("outside/dangling")))
	w.write("read/f", "content")
	for name, status := range map[string]string{
		"missing": "missing", "missing/below": "missing", "dangling": "missing", "shut/in": "unreadable", "loop": "unreadable",
	} {
		for _, flag := range []string{"--read", "--write"} {
			if status == "missing" && flag == "--write" && landlockABI() >= abiRefer {
				status = "creatable"
			}
			t.Run(flag+" "+name, func(t *testing.T) {
				w := w.as(t)
				path := w.at("outside/" + name)
				args := w.policyFlags("--json", flag, path)
				r := finish(t, w.sandbox(args, "/bin/cat", w.at("read/f")))
				ans := decode[answer](t, r.stdout)
				if ans.ExitCode != 0 || ans.Stdout != "content" {
					t.Errorf("ended with %d, printed %q: the other rules hold", ans.ExitCode, ans.Stdout)
				}
				found := false
				for _, p := range ans.Receipt.Paths {
					if p.Path == path {
						found = true
						if p.Status != status || p.Origin != flag {
							t.Errorf("the receipt says %+v, want %s from %s", p, status, flag)
						}
					}
				}
				if !found {
					t.Error("the receipt says nothing of it")
				}
				r = finish(t, w.sandbox(append(w.policyFlags("--strict", flag, path), "--json"), "/bin/sh", "-c", ": > ran"))
				ans = decode[answer](t, r.stdout)
				if r.code != 125 || ans.Code != "POLICY_INVALID" || !strings.Contains(ans.Error, filepath.Base(path)) || fileExists(w.at("work/ran")) {
					t.Errorf("strict: ended with %d, %s: %s", r.code, ans.Code, ans.Error)
				}
			})
		}
	}
}
