// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strings"
	"testing"
)

// blocks lists the write blocks of a resolved policy with their origins.
func blocks(r *Resolved) map[string]string {
	found := map[string]string{}
	for _, rule := range r.Rules {
		if rule.Kind == BlockedWrite {
			found[rule.Path] = rule.Origin
		}
	}
	return found
}

func TestProtections(t *testing.T) {
	if names := protectionNames()[1:]; !slices.IsSorted(names) {
		t.Errorf("not sorted: %v", names)
	}
	all := blocks(resolve(t, vars, layer("f", Policy{Extends: Workspace})))
	if len(all) != len(protected()) || all["/srv/p/.git/hooks"] != "built-in workspace, git-hooks" {
		t.Errorf("protected are %v", all)
	}
	for _, p := range Protections {
		if !strings.HasSuffix(p.Doc, ".") || strings.Count(p.Doc, ". ") != 0 {
			t.Errorf("%s: %q is not one sentence", p.Name, p.Doc)
		}
		left := blocks(resolve(t, vars, layer("f", Policy{Extends: Workspace}), layer("g", Policy{Unprotect: []string{p.Name}})))
		if len(left) != len(all)-len(p.Paths) {
			t.Errorf("without %s %d places are protected, want %d", p.Name, len(left), len(all)-len(p.Paths))
		}
		for place, origin := range left {
			if all[place] != origin || strings.HasSuffix(origin, " "+p.Name) {
				t.Errorf("without %s: %s is protected by %s", p.Name, place, origin)
			}
		}
	}
	for _, extends := range []string{System, None} {
		if left := blocks(resolve(t, vars, layer("f", Policy{Extends: extends}))); len(left) != 0 {
			t.Errorf("%s protects %v", extends, left)
		}
	}
}

// A lifted protection takes no block away that a layer lists itself.
func TestUnprotect(t *testing.T) {
	hooks := []string{"${WORK_DIR}/.git/hooks"}
	left := blocks(resolve(t, vars, layer("f", Policy{Extends: Workspace, BlockedWritePaths: hooks, Unprotect: []string{"all"}})))
	if len(left) != 1 || left["/srv/p/.git/hooks"] != "f" {
		t.Errorf("left are %v", left)
	}
	err := Policy{Unprotect: []string{"editor", "git-hook"}}.Check("p")
	if want := `p: unprotect[1]: there is no protection "git-hook"; did you mean "git-hooks"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
