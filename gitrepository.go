// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"errors"
	"io"
	"path"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/gitconfig"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
)

// repository is where Git finds its configuration from a directory on.
type repository struct {
	top   string   // of the working tree
	files []string // of configuration
}

// repository looks for the repository that a directory is in, as Git does
// (setup_git_directory_gently_1 in its setup.c). here is false without one.
func (n *names) repository(dir string) (r repository, here bool) {
	for ; ; dir = path.Dir(dir) {
		obj, err := n.host.Find(dir + "/.git")
		switch {
		case err != nil:
			return r, false
		case obj.Exists && obj.Dir:
			return repository{dir, configOf(dir+"/.git", dir+"/.git")}, true
		case obj.Exists:
			return n.worktree(dir)
		case dir == "/":
			return r, false
		}
	}
}

func configOf(common, own string) []string {
	return []string{common + "/config", own + "/config.worktree"}
}

// worktree finds the configuration of a linked worktree. Its .git is a file,
// which a command could have made. So the place that it names must name it in
// turn, and be where git worktree add puts it (gitrepository-layout(5)).
func (n *names) worktree(dir string) (r repository, here bool) {
	own, named := strings.CutPrefix(n.line(dir+"/.git"), "gitdir: ")
	zone := path.Dir(own)
	if !named || !path.IsAbs(own) || own != path.Clean(own) || path.Base(zone) != "worktrees" || n.line(own+"/gitdir") != dir+"/.git" {
		return r, false
	}
	return repository{dir, configOf(path.Dir(zone), own)}, true
}

// line reads a file of one line.
func (n *names) line(file string) string {
	f, err := n.host.OpenRead(file, syscall.O_NONBLOCK, hostpath.Nothing)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil && !errors.Is(err, syscall.EAGAIN) {
		return ""
	}
	return strings.TrimRight(string(text), "\n")
}

// holdsWorkDir reports whether a directory for hooks is the top of the working
// tree or around it. It can't be closed as a whole.
func (g *gitNames) holdsWorkDir(dir plan.Object) bool {
	return dir.Path == g.base.Top || strings.HasPrefix(g.base.Top, strings.TrimSuffix(dir.Path, "/")+"/")
}

// hooksIn closes the names of hooks in such a directory.
func (g *gitNames) hooksIn(dir string) error {
	for _, hook := range gitconfig.HookNames {
		if err := g.block(gitconfig.Name{Path: dir + "/" + hook, Kind: gitconfig.Hooks}); err != nil {
			return err
		}
	}
	return nil
}
