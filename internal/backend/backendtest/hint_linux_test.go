// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestHint: after a failure the line names what may have to do with it, and
// nothing where that is not known.
func TestHint(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	const unknown = "whether the failure comes from that is not known"
	for name, c := range map[string]struct {
		script string
		says   string // with HOME for the home
		not    string
	}{
		"one":                   {`echo x > HOME/x`, `refused openat of "HOME/x" (EACCES): no rule grants it; --write HOME/x would lift that` + "\n", "more"},
		"the last process's":    {`touch HOME/a; touch HOME/b; exit 1`, "--write HOME/b would lift that (1 call more refused: --receipt FILE lists them)", "HOME/a"},
		"two of one process":    {`touch HOME/a HOME/b`, "--write HOME/a --write HOME/b would lift that and 1 call more of the same process", "FILE"},
		"many of one process":   {`touch HOME/a HOME/b HOME/c HOME/d HOME/e`, "5 calls of the same process were refused: --receipt FILE lists them", "--write"},
		"an optional one":       {`touch HOME/.bash_history`, "refused 1 call; " + unknown, "--write"},
		"an optional one after": {`mkdir HOME/.tool; touch HOME/.viminfo`, "--write HOME/.tool would lift that (1 call more", "viminfo"},
		"long before the end":   {`touch HOME/x; sleep 6; exit 1`, "refused 1 call; " + unknown, "--write"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			names := strings.NewReplacer("HOME", w.at("home"))
			r := finish(t, w.sandbox(w.policyFlags(), "/bin/sh", "-c", names.Replace(c.script)))
			_, line, _ := strings.Cut(r.stderr, "ambit: the sandbox ")
			if r.code == 0 || !strings.Contains(line, names.Replace(c.says)) || c.not != "" && strings.Contains(line, names.Replace(c.not)) || strings.Count(r.stderr, "ambit: ") != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestHintWithoutRecord: where the kernel refuses files by itself there is no
// record, and the line does not pretend that nothing was refused.
func TestHintWithoutRecord(t *testing.T) {
	w := newWorld(t)
	const says = "ambit: under this policy the kernel refuses files by itself and leaves no record; "
	flags := []string{"--extends", "system"}
	if r := finish(t, w.sandbox(flags, "/bin/sh", "-c", "echo x > "+w.at("home/x"))); r.code == 0 || !strings.Contains(r.stderr, says) {
		t.Errorf("%+v", r)
	}
	if r := succeed(t, w.sandbox(flags, "true")); r.stderr != "" {
		t.Errorf("the control: %+v", r)
	}
}

// TestHintsTogether takes what is printed for commands that need several grants,
// runs again with that, and they work.
func TestHintsTogether(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	for name, c := range map[string]struct {
		script, flags string // with TOP for the world
	}{
		"a submodule":         {"git -c protocol.file.allow=always submodule add TOP/read/repo sub", "--unprotect git-hooks --unprotect git-config"},
		"a worktree":          {"git worktree add ../wt b", "--write TOP/wt --unprotect git-worktrees"},
		"a directory at home": {"mkdir -p TOP/home/.cargo/registry && echo x > TOP/home/.cargo/registry/f", "--write TOP/home/.cargo"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, dir := range []string{"work", "read/repo"} {
				w.must(os.MkdirAll(w.at(dir), 0o755))
				line := exec.Command("sh", "-ec", "git init -q .; git config user.email a@b.c; git config user.name n; echo a > a; git add a; git commit -qm a; git branch b")
				line.Dir, line.Env = w.at(dir), w.environ()
				succeed(t, line)
			}
			names := strings.NewReplacer("TOP", w.dir)
			script := names.Replace(c.script)
			r := finish(t, w.sandbox(w.policyFlags(), "/bin/sh", "-c", script))
			found := regexp.MustCompile(`; (--.*) would lift that`).FindStringSubmatch(r.stderr)
			if r.code == 0 || found == nil || found[1] != names.Replace(c.flags) {
				t.Fatalf("%q\n%+v", found, r)
			}
			succeed(t, w.sandbox(w.policyFlags(strings.Fields(found[1])...), "/bin/sh", "-c", script))
		})
	}
}
