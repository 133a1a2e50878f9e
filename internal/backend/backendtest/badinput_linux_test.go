// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPolicyFile: each kind of file that is no policy has its own clear
// message, and nothing runs.
func TestPolicyFile(t *testing.T) {
	w := newWorld(t)
	w.write("outside/empty", "")
	w.write("outside/blank", " \n// nothing\n")
	w.write("outside/unreadable", "{}")
	w.must(os.Chmod(w.at("outside/unreadable"), 0))
	w.must(syscall.Mkfifo(w.at("outside/fifo"), 0o644))
	w.must(os.Symlink("loop", w.at("outside/loop")))
	w.must(os.Mkdir(w.at("outside/folder"), 0o755))
	huge, err := os.Create(w.at("outside/huge"))
	w.must(err)
	w.must(huge.Truncate(100 << 20))
	w.must(huge.Close())
	w.write("outside/syntax", "{\n  \"read_paths\": [\n    \"/tmp\",,\n  ]\n}\n")
	w.write("outside/unknown", `{"read_path": ["/tmp"]}`)
	w.write("outside/type", `{"read_paths": "/tmp"}`)
	w.write("outside/relative", `{"read_paths": ["tmp"]}`)
	w.write("outside/element", `{"read_paths": [""]}`)
	w.write("outside/nul", `{"read_paths": ["/tmp/\u0000"]}`)
	w.write("outside/control", "{\"read_paths\": [\"/tmp/\x01\"]}")
	w.write("outside/twice", `{"extends": "none", "extends": "workspace"}`)
	w.write("outside/more", `{} {}`)
	w.write("outside/null", `null`)
	w.write("outside/item", `{"accept": ["everything"]}`)
	messages := map[string]string{}
	for _, c := range []struct{ file, says string }{
		{"missing", "does not exist"}, {"empty", "empty"}, {"blank", ""}, {"unreadable", "permission denied"}, {"fifo", ""}, {"loop", "loop"},
		{"folder", ""}, {"huge", ""}, {"syntax", ":3:"}, {"unknown", "read_path"}, {"type", "read_paths"}, {"relative", "relative"}, {"element", "read_paths[0]"},
		{"nul", "read_paths[0]"}, {"control", ""}, {"twice", "extends"}, {"more", ""}, {"null", ""}, {"item", "everything"},
	} {
		t.Run(c.file, func(t *testing.T) {
			w := w.as(t)
			file := w.at("outside/" + c.file)
			begin := time.Now()
			w.refuses([]string{"--policy", file}, "POLICY_INVALID", file, c.says)
			if d := time.Since(begin); d > patience(5*time.Second) {
				t.Errorf("it took %v", d)
			}
			r := finish(t, w.sandbox([]string{"--policy", file}, "/bin/true"))
			message := strings.ReplaceAll(r.stderr, file, "FILE")
			if other, seen := messages[message]; seen {
				t.Errorf("%s and %s have the same message: %s", c.file, other, message)
			}
			messages[message] = c.file
		})
	}
	w.write("outside/good", "{\n  // everything by default\n  \"extends\": \"workspace\",\n}\n")
	succeed(t, w.sandbox([]string{"--policy", w.at("outside/good")}, "/bin/true"))
}

// TestSurroundings: what ambit is started in.
func TestSurroundings(t *testing.T) {
	w := newWorld(t)
	env := func(kv ...string) func(*exec.Cmd) *exec.Cmd {
		return func(cmd *exec.Cmd) *exec.Cmd {
			cmd.Env = append(cmd.Env, kv...)
			return cmd
		}
	}
	w.must(os.Mkdir(w.at("outside/readonly"), 0o500))
	file := w.write("outside/file", "")
	for _, tmp := range []string{w.at("outside/missing"), w.at("outside/readonly"), file, "/proc"} {
		t.Run("TMPDIR "+tmp[len(w.dir)*min(1, len(tmp)/len(w.dir)):], func(t *testing.T) {
			w := w.as(t)
			w.refusesAs(env("TMPDIR="+tmp), w.policyFlags(), "SANDBOX_UNAVAILABLE", "temporary folder")
			if r := finish(t, env("TMPDIR="+tmp)(w.sandbox(w.policyFlags("--private-tmp=false"), "/bin/true"))); r.code != 0 {
				t.Errorf("without a private folder: ended with %d\n%s", r.code, r.stderr)
			}
		})
	}
	w.refusesAs(env("HOME=relative"), w.policyFlags(), "POLICY_INVALID", "HOME")
	for _, home := range []string{"", "/nonexistent", file} {
		cmd := env("HOME=" + home)(w.sandbox(w.policyFlags(), "/bin/true"))
		if r := finish(t, cmd); r.code != 0 {
			t.Errorf("HOME=%q: ended with %d\n%s", home, r.code, r.stderr)
		}
	}
	cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{{"get", "../outside/file"}, {"put", "f", "WRONLY|CREAT", "x"}})...)
	cmd.Env = []string{}
	if got := replies(t, finish(t, cmd), 2); got[0].outcome != "EACCES" || got[1].outcome != "OK" {
		t.Errorf("with no environment at all: %v", got)
	}
}

// TestLostWorkDir: a current folder that is gone, closed, or too deep to have
// a name.
func TestLostWorkDir(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("d", 250)
	for _, c := range []struct{ name, script, code, says string }{
		{"deleted", `mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"`, "POLICY_INVALID", "current folder"},
		{"no search permission", `mkdir -p shut && cd shut && chmod 0 . && exec "$0" "$@"`, "POLICY_INVALID", "from work_dir: it can't be entered"},
		{"nameless", fmt.Sprintf(`i=0; while [ $i -lt 20 ]; do mkdir -p %s && cd -P ./%[1]s || exit 9; i=$((i+1)); done; exec "$0" "$@"`, long), "POLICY_INVALID", "current folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := w.as(t)
			t.Cleanup(func() { _ = os.Chmod(w.at("work/shut"), 0o755); removeDeep(w.at("work/" + long)) })
			w.refusesAs(func(cmd *exec.Cmd) *exec.Cmd { return throughShell(cmd, "rm -rf shut; "+c.script) }, w.policyFlags(), c.code, c.says)
		})
	}
	w.write("work/file", "")
	for _, dir := range []string{"work/missing", "work/file"} {
		w.refuses(w.policyFlags("--work-dir", w.at(dir)), "POLICY_INVALID", w.at(dir))
	}
}

// removeDeep removes a tree whose names are longer than a call takes.
func removeDeep(dir string) { _ = exec.Command("rm", "-rf", dir).Run() }
