// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"github.com/ambit-sandbox/ambit/internal/plan"
)

// addNewPlaces notes the places where the command may make something in a
// directory that is not writable, and which directories are missing on the way
// there: each of these may be made too, as a plain directory. The kernel has no
// rule for any of them.
func (t *territory) addNewPlaces() {
	for _, n := range t.tree.NewPlaces() {
		t.fresh[n.Path] = n.Around
		for up, ok := parentOfPath(n.Path); ok && t.tree.Mode(up) < plan.Write && t.identify(up) == (Inode{}); up, ok = parentOfPath(up) {
			t.ways[up] = true
		}
	}
}
