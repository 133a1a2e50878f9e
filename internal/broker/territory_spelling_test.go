// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"slices"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// aliasing is a file system that finds its objects by other names too: folded,
// and by a short one as FAT and NTFS make it up.
type aliasing map[string]Inode

func (f aliasing) find(p string) (string, bool) {
	at := ""
	for _, part := range strings.Split(strings.TrimPrefix(p, "/"), "/") {
		names := f.in(at)
		i := slices.IndexFunc(names, func(name string) bool {
			bare := strings.ToUpper(strings.TrimLeft(name, "."))
			return plan.Fold(name) == plan.Fold(part) || len(bare) > 6 && part == bare[:6]+"~1"
		})
		if i < 0 {
			return "", false
		}
		at += "/" + names[i]
	}
	return at, true
}

func (f aliasing) identify(p string) Inode {
	name, _ := f.find(p)
	return f[name]
}

func (f aliasing) list(folder string) []string {
	at, _ := f.find(folder)
	return f.in(at)
}

// in lists a folder by its real name, empty for the root.
func (f aliasing) in(folder string) (names []string) {
	for p := range f {
		if name, ok := strings.CutPrefix(p, folder+"/"); ok && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

// exacting is one that does not.
type exacting map[string]Inode

func (f exacting) identify(p string) Inode { return f[p] }
func (f exacting) list(string) []string    { return nil }

// TestOtherNames: a closed place is closed by every name that its file system
// finds it by, and where the same names mean something else it is not.
func TestOtherNames(t *testing.T) {
	tr := tree(t, policy.PathRule{Path: "/p", Kind: policy.Write},
		policy.PathRule{Path: "/p/longsecret", Kind: policy.Blocked}, policy.PathRule{Path: "/p/subfolder/longhooks", Kind: policy.BlockedWrite},
		policy.PathRule{Path: "/p/missing", Kind: policy.Blocked},
		patternRule(policy.Blocked, "/p/**/.environment"), patternRule(policy.Blocked, "/p/subfolder/*/privatekey"))
	objects := map[string]Inode{
		"/p": {1, 1}, "/p/longsecret": {1, 2}, "/p/subfolder": {1, 3}, "/p/subfolder/longhooks": {1, 4}, "/p/.environment": {1, 5},
		"/p/subfolder/d": {1, 6}, "/p/subfolder/d/privatekey": {1, 7}, "/p/other": {1, 8},
	}
	names := []string{
		"/p/LONGSE~1", "/p/longsecret.", "/p/\u017fecret", "/p/long\u017fecret", "/p/LONGSE~1/f", "/p/SUBFOL~1/LONGHO~1/f", "/p/subfolder./longhooks /f",
		"/p/ENVIRO~1", "/p/.environment.", "/p/other/.env\u200cironment", "/p/SUBFOL~1/d/PRIVAT~1",
	}
	missing := []string{"/p/missing.", "/p/mi\u017f\u017fing", "/p/m\u200bissing/f"} // whose meaning can't be known
	loose, strict := newTerritory(tr, &Files{}, aliasing(objects).identify), exacting{}
	loose.list = aliasing(objects).list
	for p, i := range objects {
		strict[p] = i
	}
	for i, p := range slices.Concat(names, missing) { // and there they are objects of their own
		strict[p] = Inode{2, uint64(i) + 1}
	}
	exact := newTerritory(tr, &Files{}, strict.identify)
	exact.list = strict.list
	for _, p := range slices.Concat(names, missing) {
		open := p == "/p/\u017fecret" // which is no name of anything
		if j, _ := loose.judge(p, plan.Write); (j == refused) == open {
			t.Errorf("%q: %v, where it is another name", p, j)
		}
		if j, _ := loose.judgeName(p); (j == refused) == open {
			t.Errorf("the name %q: %v, where it is another name", p, j)
		}
		if j, _ := exact.judge(p, plan.Write); (j == refused) != slices.Contains(missing, p) {
			t.Errorf("%q: %v, where it is no other name", p, j)
		}
	}
	if loose.uniform("/p/SUBFOL~1/new") || loose.alike("/p/other/d", "/p/SUBFOL~1/d") {
		t.Error("a folder with another name counts as one that no pattern reaches")
	}
}
