// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"slices"
	"strings"
)

// Flags lists what to add to `ambit run` to let all of some denials through,
// and what is known to be refused next: a program that is refused its first
// step does not come to the others. It is empty if one of them has no grant
// that is a flag, since the others alone would not do.
func Flags(list []Denial) []string {
	var flags []string
	for i := range list {
		d := &list[i]
		if d.Grant == nil || d.Grant.Flag == "" {
			return nil
		}
		for _, flag := range append([]string{d.Grant.Flag}, alsoNeeded(d)...) {
			if !slices.Contains(flags, flag) {
				flags = append(flags, flag)
			}
		}
	}
	return flags
}

// alsoNeeded are the flags for what the caller is refused as soon as a denial's
// own grant is given.
func alsoNeeded(d *Denial) []string {
	switch {
	case strings.Contains(d.Object, "/.git/modules/") && d.by("git-hooks", "git-config"):
		// A submodule's repository is made with hooks and a configuration
		// (gitsubmodules(7), "it is located at .git/modules/").
		return []string{"--unprotect git-hooks", "--unprotect git-config"}
	case d.Program == "git worktree" && d.Call == "mkdir" && d.Rule == nil:
		// "git worktree add" makes the directory, then says in .git/worktrees
		// where its repository is (gitrepository-layout(5), commondir).
		return []string{"--unprotect git-worktrees"}
	}
	return nil
}

// by reports whether one of some protections decided.
func (d *Denial) by(protections ...string) bool {
	if d.Rule == nil || !d.Rule.Builtin {
		return false
	}
	_, name, _ := strings.Cut(d.Rule.Origin, ", ")
	return slices.Contains(protections, name)
}
