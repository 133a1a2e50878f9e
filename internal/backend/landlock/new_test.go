// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
	"github.com/ambit-sandbox/ambit/policy"
)

// TestNewPlacesAreTrapped: only a run with a new place has its calls trapped,
// and those that read only where reading has no rule either. Without a broker
// none are.
func TestNewPlacesAreTrapped(t *testing.T) {
	for name, c := range map[string]struct {
		rules []policy.PathRule
		want  seccomp.Files
	}{
		"none":                 {[]policy.PathRule{{Path: "/p", Kind: policy.Write}, {Path: "/home", Kind: policy.Read}}, seccomp.FilesNative},
		"in nothing":           {[]policy.PathRule{{Path: "/home/u/new", Kind: policy.Write}}, seccomp.FilesAll},
		"in nothing, deep":     {[]policy.PathRule{{Path: "/home/u/a/b", Kind: policy.Write}}, seccomp.FilesAll},
		"in a readable place":  {[]policy.PathRule{{Path: "/home", Kind: policy.Read}, {Path: "/home/u/new", Kind: policy.Write}}, seccomp.FilesWrites},
		"in a writable place":  {[]policy.PathRule{{Path: "/home", Kind: policy.Write}, {Path: "/home/u/new", Kind: policy.Write}}, seccomp.FilesNative},
		"a built-in one":       {[]policy.PathRule{{Path: "/home/u/new", Kind: policy.Write, Builtin: true}}, seccomp.FilesNative},
		"one to be read":       {[]policy.PathRule{{Path: "/home/u/new", Kind: policy.Read}}, seccomp.FilesNative},
		"one that is blocked":  {[]policy.PathRule{{Path: "/home/u/new", Kind: policy.Write}, {Path: "/home/u", Kind: policy.Blocked}}, seccomp.FilesNative},
		"one that stands here": {[]policy.PathRule{{Path: "/home/u/notes", Kind: policy.Write}}, seccomp.FilesNative},
	} {
		p, err := plan.Compile(&policy.Resolved{WorkDir: "/p", Rules: c.rules}, "", project)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&mechanisms{broker: true}).filesOf(p); got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
		if got := (&mechanisms{}).filesOf(p); got != seccomp.FilesNative {
			t.Errorf("%s, without a broker: %v", name, got)
		}
		l, err := lower(p.Tree, rightsOf, project.list)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range l.grants {
			if !g.object.Exists {
				t.Errorf("%s: a rule for %s, where nothing stands", name, g.object.Path)
			}
		}
	}
}
