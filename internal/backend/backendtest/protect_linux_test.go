// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

// TestProtections: what the user's own programs run later can't be written
// under the default policy, whether it is there or not, until the protection is
// lifted; it stays readable, and the rest of the project writable.
func TestProtections(t *testing.T) {
	for _, p := range policy.Protections {
		t.Run(p.Name, func(t *testing.T) {
			w := newWorld(t)
			for _, dir := range []string{".git/modules/a/b", ".git/worktrees/a"} {
				w.must(os.MkdirAll(w.at("work/"+dir), 0o755))
			}
			missing := []attempt{{"put f WRONLY|CREAT x", "OK", ""}, {"put .git/index WRONLY|CREAT x", "OK", ""}}
			var there, lifted []attempt
			for _, place := range p.Paths {
				name := protectedName(place)
				missing = append(missing,
					attempt{"put " + name + " WRONLY|CREAT x", "EACCES", ""},
					attempt{"mkdirat AT '" + name + " 0755", "EACCES", ""},
					attempt{"symlinkat 'f AT '" + name, "EACCES", ""},
					attempt{"renameat AT 'f AT '" + name, "EACCES", ""})
				if strings.HasPrefix(name, ".git/") {
					missing = append(missing, attempt{"renameat AT '.git AT 'moved", "EACCES", ""})
				}
				there = append(there,
					attempt{"get " + name, "OK", "trusted"},
					attempt{"put " + name + " WRONLY x", "EACCES", ""},
					attempt{"unlinkat AT '" + name + " 0", "EACCES", ""},
					attempt{"fchmodat AT '" + name + " 0777", "EACCES", ""})
				lifted = append(lifted,
					attempt{"put " + name + " WRONLY|TRUNC x", "OK", ""},
					attempt{"unlinkat AT '" + name + " 0", "OK", ""})
			}
			w.tryAll(w.policyFlags(), missing)
			for _, place := range p.Paths {
				name := "work/" + protectedName(place)
				if fileExists(w.at(name)) {
					t.Errorf("%s was made", name)
				}
				w.write(name, "trusted")
			}
			w.tryAll(w.policyFlags(), there)
			w.tryAll(w.policyFlags("--unprotect", p.Name), lifted)
		})
	}
}

// protectedName is a name that a protection's path stands for.
func protectedName(place string) string {
	return strings.NewReplacer("${WORK_DIR}/", "", "**", "a/b", "*", "a").Replace(place)
}

// TestProtectionsGiveWay: a folder that is no repository can become one; what
// a layer opens at a protected place is open; in a linked worktree the file
// that says where the repository is stays.
func TestProtectionsGiveWay(t *testing.T) {
	w := newWorld(t)
	w.tryAll(w.policyFlags(), []attempt{
		{"mkdirat AT '.git 0755", "OK", ""},
		{"put .git/config WRONLY|CREAT x", "OK", ""},
		{"mkdirat AT '.git/hooks 0755", "OK", ""},
	})
	w.must(os.MkdirAll(w.at("work/.claude/trees"), 0o755))
	w.tryAll(w.policyFlags("--write", w.at("work/.claude/trees"), "--write", w.at("work")), []attempt{
		{"put .claude/settings.json WRONLY|CREAT x", "EACCES", ""},
		{"put .claude/trees/file WRONLY|CREAT x", "OK", ""},
		{"renameat AT '.claude/trees AT '.claude/moved", "EACCES", ""},
	})
	w.must(os.RemoveAll(w.at("work/.git")))
	w.write("work/.git", "gitdir: /elsewhere")
	w.tryAll(w.policyFlags(), []attempt{
		{"get .git", "OK", "gitdir: /elsewhere"},
		{"put .git WRONLY x", "EACCES", ""},
		{"unlinkat AT '.git 0", "EACCES", ""},
		{"renameat AT '.git AT 'moved", "EACCES", ""},
		{"mkdirat AT 'other 0755", "OK", ""},
		{"renameat2 AT 'other AT '.git 2", "EACCES", ""},
	})
}

// TestProtectionsNotLedAway: what stands in .git/modules or .git/worktrees is
// replaced neither by a symbolic link to what the command has prepared, nor by
// a folder with it, nor made anew with it. Elsewhere all that works.
func TestProtectionsNotLedAway(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{".git/modules/a", ".git/worktrees/a", ".git/other"} {
		w.must(os.MkdirAll(w.at("work/"+dir), 0o755))
		w.write("work/"+dir+"/config", "trusted")
	}
	attempts := []attempt{
		{"mkdirat AT 'evil 0755", "OK", ""},
		{"put evil/config WRONLY|CREAT x", "OK", ""},
		{"symlinkat '../../evil AT 'evil/link", "OK", ""},
		{"renameat AT '.git/other AT '.git/moved", "OK", ""},
		{"symlinkat '../evil AT '.git/other", "OK", ""},
		{"get .git/other/config", "OK", "x"},
	}
	for _, zone := range []string{".git/modules", ".git/worktrees"} {
		attempts = append(attempts,
			attempt{"renameat AT '" + zone + "/a AT '" + zone + "/b", "OK", ""},
			attempt{"symlinkat '../../evil AT '" + zone + "/a", "EACCES", ""},
			attempt{"linkat AT 'evil/link AT '" + zone + "/a 0", "EACCES", ""},
			attempt{"renameat AT 'evil/link AT '" + zone + "/a", "EXDEV", ""},
			attempt{"renameat AT 'evil AT '" + zone + "/a", "EXDEV", ""},
			attempt{"renameat2 AT 'evil AT '" + zone + "/b 2", "EXDEV", ""},
			attempt{"mkdirat AT '" + zone + "/a 0755", "OK", ""},
			attempt{"put " + zone + "/a/config WRONLY|CREAT x", "EACCES", ""},
			attempt{"mkdirat AT '" + zone + "/a/hooks 0755", "EACCES", ""},
			attempt{"put " + zone + "/a/HEAD WRONLY|CREAT x", "OK", ""},
		)
	}
	w.tryAll(w.policyFlags(), attempts)
	w.tryAll(w.policyFlags("--unprotect", "all"), []attempt{
		{"symlinkat '../../evil AT '.git/modules/c", "OK", ""},
		{"symlinkat '../../evil AT '.git/worktrees/c", "OK", ""},
		{"get .git/worktrees/c/config", "OK", "x"},
	})
}

// TestUnprotectGit: Git says what it may not change, and may with the flag.
func TestUnprotectGit(t *testing.T) {
	w := newWorld(t)
	git := func(flags []string, args ...string) result {
		return finish(t, w.sandbox(flags, append([]string{"/usr/bin/git", "-c", "init.defaultBranch=main"}, args...)...))
	}
	if r := git(w.policyFlags(), "init", "-q"); r.code != 0 {
		t.Fatalf("git init: %d\n%s", r.code, r.stderr)
	}
	if r := git(w.policyFlags(), "config", "core.fsmonitor", "evil"); r.code == 0 || !strings.Contains(r.stderr, "config") {
		t.Errorf("git config: %d\n%s", r.code, r.stderr)
	}
	if r := git(w.policyFlags("--unprotect", "git-config"), "config", "core.abbrev", "9"); r.code != 0 {
		t.Errorf("git config with the flag: %d\n%s", r.code, r.stderr)
	}
	if r := git(w.policyFlags(), "config", "core.abbrev"); strings.TrimSpace(r.stdout) != "9" {
		t.Errorf("git config says %q\n%s", r.stdout, r.stderr)
	}
}
