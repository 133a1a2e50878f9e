// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// TestSpelledNames: the names that are checked are those by which places are
// told from what is beside them.
func TestSpelledNames(t *testing.T) {
	w := world{"/", "/p/", "/p/a/", "/p/a/b/", "/p/a/b/secret", "/p/c/", "/q/"}
	p, err := plan.Compile(&policy.Resolved{WorkDir: "/p", Rules: []policy.PathRule{
		{Path: "/p", Kind: policy.Write}, {Path: "/p/a/b/secret", Kind: policy.Blocked}, {Path: "/p/missing/x", Kind: policy.Blocked},
		{Path: "/q/x", Kind: policy.Blocked}, {Path: "/p/c/*.pem", Kind: policy.Blocked, Pattern: true},
	}}, "", w)
	if err != nil {
		t.Fatal(err)
	}
	tr := p.Tree
	var names []string
	if err := spelled(tr, func(name string) error { names = append(names, name); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "/p/a /p/a/b /p/a/b/secret /p/c /p/missing /p/missing/x" {
		t.Errorf("checked: %s", got)
	}
	wrong := errors.New("wrong")
	if err := spelled(tr, func(name string) error {
		if name == "/p/a" {
			return wrong
		}
		return nil
	}); !errors.Is(err, wrong) {
		t.Errorf("a wrong name on the way: %v", err)
	}
}
