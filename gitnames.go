// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/gitconfig"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// Bounds of what is read of Git's configuration.
const (
	maxGitConfig  = 1 << 20 // bytes of all files together
	maxGitNames   = 1000
	maxGitInclude = 10 // as many as Git follows (MAX_INCLUDE_DEPTH in its config.c)
)

// gitNames finds what Git's configuration names in the places that a command
// may write. Git runs or reads it later, outside of every sandbox.
type gitNames struct {
	names *names
	tree  *plan.Tree
	rules []policy.PathRule
	base  gitconfig.Base
	left  int // bytes that may still be read
	seen  map[string]bool
}

// protectionFor returns the protection that a name belongs to.
func protectionFor(kind gitconfig.Kind) string {
	if kind == gitconfig.Hooks {
		return policy.HooksProtection
	}
	return policy.GitProtection
}

// git returns write blocks for what Git's configuration names, as far as the
// protections of the policies are in force.
func (n *names) git(tree *plan.Tree, workDir string, by ...*policy.Resolved) ([]policy.PathRule, error) {
	inForce := policy.Protecting(by...)
	if !inForce[policy.GitProtection] && !inForce[policy.HooksProtection] {
		return nil, nil
	}
	repo, here := n.repository(workDir)
	if !here {
		return nil, nil
	}
	g := &gitNames{names: n, tree: tree, left: maxGitConfig, seen: map[string]bool{}, base: gitconfig.Base{Top: repo.top, Home: n.home}}
	for _, file := range append(repo.files, gitOfUser(n.home)...) {
		if err := g.read(file, 0); err != nil {
			return nil, &policyError{fmt.Errorf("cannot protect what Git's configuration names: %w; make it smaller, or lift the protections with --unprotect git-config --unprotect git-hooks", err)}
		}
	}
	lifted := func(r policy.PathRule) bool { return !inForce[policy.ProtectionOf(r)] }
	return slices.DeleteFunc(g.rules, lifted), nil
}

// gitOfUser lists the files that hold for all repositories (git-config(1),
// FILES).
func gitOfUser(home string) []string {
	files := []string{"/etc/gitconfig"}
	if home != "" {
		files = append(files, home+"/.config/git/config", home+"/.gitconfig")
	}
	return files
}

// read adds what one file names, and what the files that it includes name.
func (g *gitNames) read(file string, depth int) error {
	if depth > maxGitInclude || g.seen[file] {
		return nil
	}
	g.seen[file] = true
	text, err := g.text(file)
	if err != nil {
		return err
	}
	entries, _ := gitconfig.Parse(text) // Git reads none of a file with a fault
	base := g.base
	base.File = path.Dir(file)
	for _, name := range gitconfig.Names(entries, base) {
		if err := g.add(name); err != nil {
			return err
		}
		if name.Kind == gitconfig.Include {
			if err := g.read(name.Path, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// text reads a file. One that is missing, or that a command could have led to,
// is empty: what Ambit reads outside of the sandbox no command chooses.
func (g *gitNames) text(file string) ([]byte, error) {
	f, err := g.names.host.OpenRead(file, syscall.O_NONBLOCK, g.tree.Mode)
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(g.left)+1))
	if err != nil || len(text) > g.left {
		return nil, fmt.Errorf("%s can't be read, or has more than %d bytes with what was read before it", file, maxGitConfig)
	}
	g.left -= len(text)
	return text, nil
}

// add makes the rule for a name.
func (g *gitNames) add(name gitconfig.Name) error {
	if name.Kind == gitconfig.Argument {
		if obj, err := g.names.host.Find(name.Path); err != nil || !obj.Exists || obj.Dir {
			return nil
		}
	}
	obj, err := g.names.host.Resolve(name.Path)
	if errors.Is(err, syscall.ENOENT) { // ".." behind what is missing
		name.Path = path.Clean(name.Path)
		obj, err = g.names.host.Resolve(name.Path)
	}
	switch {
	case name.Kind == gitconfig.Program && (err != nil || obj.Exists && obj.Dir), err == nil && !g.writable(obj):
		return nil
	case err == nil && name.Kind == gitconfig.Hooks && g.holdsWorkDir(obj):
		return g.hooksIn(obj.Path)
	case err == nil && !obj.Exists:
		return g.missing(name, obj)
	}
	return g.block(name)
}

// missing closes a name under which nothing stands yet, and the symbolic links
// on the way to it: one that is replaced leads elsewhere.
func (g *gitNames) missing(name gitconfig.Name, obj plan.Object) error {
	first := g.names.firstMissing(obj.Path)
	names := []string{first}
	if first == obj.Path {
		names = append(names, name.Path)
	} else { // a block on the name itself would not count
		for _, l := range obj.Links {
			names = append(names, l.Path)
		}
	}
	for _, n := range names {
		if err := g.block(gitconfig.Name{Path: n, Kind: name.Kind}); err != nil {
			return err
		}
	}
	return nil
}

func (g *gitNames) block(name gitconfig.Name) error {
	if len(g.rules) == maxGitNames {
		return fmt.Errorf("it names more than %d of them", maxGitNames)
	}
	rule := policy.PathRule{Path: name.Path, Kind: policy.BlockedWrite, Builtin: true, Origin: policy.ProtectionOrigin(protectionFor(name.Kind))}
	if !slices.Contains(g.rules, rule) {
		g.rules = append(g.rules, rule)
	}
	return nil
}

// writable reports whether a command could change what a name leads to, or a
// symbolic link on the way.
func (g *gitNames) writable(obj plan.Object) bool {
	return g.tree.Mode(obj.Path) == plan.Write ||
		slices.ContainsFunc(obj.Links, func(l plan.Link) bool { return g.tree.Mode(l.Path) == plan.Write })
}

// firstMissing goes up from a missing name to the one whose directory exists:
// with a directory in its place the name could be made.
func (n *names) firstMissing(name string) string {
	for {
		up, err := n.host.Resolve(path.Dir(name))
		if err != nil || up.Exists || name == "/" {
			return name
		}
		name = path.Dir(name)
	}
}
