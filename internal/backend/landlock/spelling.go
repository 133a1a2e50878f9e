// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"path"

	"github.com/ambit-sandbox/ambit/internal/plan"
)

// spelled checks the names of the exceptions, of where patterns start, and of
// the folders on the way to both, as far as they lie in something granted: by
// these they are told from what else is in the same folder.
func spelled(t *plan.Tree, check func(name string) error) error {
	var names []string
	for _, e := range t.Exceptions() {
		names = append(names, e.Path)
	}
	for _, p := range t.Patterns() {
		names = append(names, p.Base)
	}
	seen := map[string]bool{}
	for _, p := range names {
		for ; p != "/" && !seen[p] && t.Mode(path.Dir(p)) > plan.None; p = path.Dir(p) {
			seen[p] = true
			if err := check(p); err != nil {
				return err
			}
		}
	}
	return nil
}
