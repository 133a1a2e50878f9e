// SPDX-License-Identifier: Apache-2.0

package broker

import "github.com/ambit-sandbox/ambit/internal/plan"

// mayRead decides whether what is in an object may be told, and returns the
// node of the tree that said so, or nil.
//
//   - Its place is readable: yes. For a removed object that is its last one.
//   - The caller holds it open for reading or writing: yes, as in mayChange.
//   - It is at no place: no. Such an object may be the whole kernel's, as the
//     one inode of all eventfds is.
func mayRead(tree places, f facts, held bool) (bool, *plan.Node) {
	switch f.place {
	case unnamed:
		return true, nil
	case nowhere:
		return false, nil
	}
	n := tree.Find(f.name)
	return held || n != nil && n.Mode >= plan.Read, n
}
