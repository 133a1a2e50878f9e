// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"strings"
	"testing"
)

// named is a file that Git's configuration names, and how.
type named struct {
	file, protection string
	there            string // what is made beforehand, as makeNamed takes it
	config           string // what .git/config says
}

// TestProtectedNames: what Git runs because its configuration names it can't be
// written, made or led away, until the protection is lifted. As the control
// what stands beside it can.
func TestProtectedNames(t *testing.T) {
	for name, c := range map[string]named{
		"hooks":                    {"hooks/pre-commit", "git-hooks", "hooks/pre-commit", "[core]\n\thooksPath = hooks\n"},
		"hooks, missing":           {"hooks/pre-commit", "git-hooks", "", "[core]\n\thooksPath = \"hooks\" # ours\n"},
		"hooks, missing above":     {"hooks/_/pre-commit", "git-hooks", "", "[core] hooksPath = hooks/_"},
		"hooks, at the top":        {"pre-commit", "git-hooks", "", "[core] hooksPath = ."},
		"include":                  {"inc", "git-config", "inc", "[include]\n\tpath = ../inc\n"},
		"include, missing":         {"inc", "git-config", "", "[includeIf \"onbranch:x\"]\n\tpath = ../inc\n"},
		"include of an include":    {"b/second", "git-config", "first=[include] path = b/second\nb/second", "[include] path = ../first"},
		"hooks of an include":      {"hooks/pre-commit", "git-hooks", "first=[core] hooksPath = hooks\nhooks/pre-commit", "[include] path = ../first"},
		"program":                  {"tools/watch", "git-config", "tools/watch", "[core] fsmonitor = tools/watch"},
		"program, missing":         {"tools/watch", "git-config", "", "[core] fsmonitor = ./tools/watch"},
		"script of a filter":       {"tools/clean.py", "git-config", "tools/clean.py", "[filter \"x\"] clean = python3 tools/clean.py %f"},
		"in the worktree's own":    {"hooks/pre-commit", "git-hooks", ".git/config.worktree=[core] hooksPath = hooks", ""},
		"in the user's own":        {"hooks/pre-commit", "git-hooks", "../home/.gitconfig=[core] hooksPath = hooks", ""},
		"of a repository above":    {"hooks/pre-commit", "git-hooks", "../.git/config=[core] hooksPath = work/hooks", "none"},
		"of a linked worktree":     {"hooks/pre-commit", "git-hooks", "LINKED", "none"},
		"by a link":                {"real/pre-commit", "git-hooks", "real/pre-commit\nhooks->real", "[core] hooksPath = hooks"},
		"missing, by a link":       {"link/hooks/pre-commit", "git-hooks", "dir/x\nlink->dir", "[core] hooksPath = link/hooks"},
		"missing above, by a link": {"link/a/hooks/pre-commit", "git-hooks", "dir/x\nlink->dir", "[core] hooksPath = link/a/hooks"},
		"before a fault":           {"hooks/pre-commit", "git-hooks", "", "[core] hooksPath = hooks\n[core"},
		"the last of two":          {"hooks/pre-commit", "git-hooks", "", "[core] hooksPath = /dev/null\n[core] hooksPath = hooks"},
	} {
		t.Run(name, func(t *testing.T) { newWorld(t).protectsNamed(c) })
	}
}

func (w *world) protectsNamed(c named) {
	w.Helper()
	if c.config != "none" {
		w.makeNamed(".git/config=" + c.config)
	}
	if c.there == "LINKED" {
		w.makeNamed("../main/.git/config=[core] hooksPath = hooks")
		w.makeNamed("../main/.git/worktrees/work/gitdir=" + w.at("work/.git") + "\n")
		w.makeNamed(".git=gitdir: " + w.at("main/.git/worktrees/work") + "\n")
		c.there = ""
	}
	for _, made := range strings.Split(c.there, "\n") {
		w.makeNamed(made)
	}
	const write = `mkdir -p $(dirname $0) && echo evil > $0`
	try := func(want string, flags []string, script string) {
		w.Helper()
		r := finish(w, w.sandbox(flags, "/bin/sh", "-c", script, c.file))
		if ok := r.code == 0; ok != (want == "") || !strings.Contains(r.stderr, want) {
			w.Errorf("%v %s: ended with %d, want %q\n%s", flags, script, r.code, want, r.stderr)
		}
	}
	try("Permission denied", nil, write)
	if top, _, below := strings.Cut(c.file, "/"); below {
		try("", nil, "mkdir -p own/"+c.file+" && touch beside")
		if fileExists(w.at("work/" + top)) {
			try("Permission denied", nil, "mv "+top+" moved")
		}
	}
	if fileExists(w.at("work/hooks")) {
		try("Permission denied", nil, "rm -r own; mv hooks moved || ln -sfn own hooks")
	}
	other := map[string]string{"git-hooks": "git-config", "git-config": "git-hooks"}[c.protection]
	try("Permission denied", []string{"--unprotect", other}, write)
	try("", []string{"--unprotect", c.protection}, write)
}

// makeNamed makes "file", "file=content" or "link->target" in the project.
func (w *world) makeNamed(what string) {
	w.Helper()
	if what == "" {
		return
	}
	if link, target, ok := strings.Cut(what, "->"); ok {
		w.must(os.Symlink(target, w.at("work/"+link)))
		return
	}
	file, content, _ := strings.Cut(what, "=")
	w.must(os.MkdirAll(w.at("work/"+file[:strings.LastIndex("/"+file, "/")]), 0o755))
	w.write("work/"+file, content)
}

// TestProtectedNamesBound: what is too much to be read stops the run, and a
// policy without the protections does not look.
func TestProtectedNamesBound(t *testing.T) {
	w := newWorld(t)
	w.makeNamed(".git/config=" + strings.Repeat("# comment\n", 200_000))
	w.refuses(nil, "POLICY_INVALID", "Git's configuration", "--unprotect")
	succeed(t, w.sandbox([]string{"--unprotect", "git-config", "--unprotect", "git-hooks"}, "/bin/true"))
	succeed(t, w.sandbox([]string{"--extends", "system"}, "/bin/true"))
}

// TestProtectedNamesByGit: Git itself runs what is protected: the product and
// Git mean the same file.
func TestProtectedNamesByGit(t *testing.T) {
	w := newWorld(t)
	git := func(args ...string) result {
		cmd := w.ambit()
		cmd.Path, cmd.Args, cmd.Dir = "/usr/bin/git", append([]string{"git"}, args...), w.at("work")
		return finish(t, cmd)
	}
	git("init", "-q")
	w.makeNamed("hooks/post-index-change")
	w.makeNamed("tools/watch")
	w.makeNamed("shared=[core]\n hooksPath = hooks\n fsmonitor = tools/watch\n")
	w.must(os.Chmod(w.at("work/hooks/post-index-change"), 0o755))
	w.must(os.Chmod(w.at("work/tools/watch"), 0o755))
	git("config", "include.path", "../shared")
	evil := "for f in hooks/post-index-change tools/watch shared; do printf '#!/bin/sh\\ntouch ran-%s\\n' $(basename $f) > $f; done; touch new"
	r := finish(t, w.sandbox(nil, "/bin/sh", "-c", evil))
	if n := strings.Count(r.stderr, "Permission denied"); n != 3 {
		t.Errorf("%d were denied\n%s", n, r.stderr)
	}
	git("add", "new")
	if fileExists(w.at("work/ran-watch")) || fileExists(w.at("work/ran-post-index-change")) {
		t.Error("Git ran what the command wrote")
	}
	succeed(t, w.sandbox([]string{"--unprotect", "all"}, "/bin/sh", "-c", strings.Replace(evil, " shared;", ";", 1)))
	git("status")
	git("add", "tools")
	if !fileExists(w.at("work/ran-watch")) || !fileExists(w.at("work/ran-post-index-change")) {
		t.Error("control: Git did not run what the command wrote without the protection")
	}
}
