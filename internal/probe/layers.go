// SPDX-License-Identifier: Apache-2.0

package probe

import "strconv"

// layerLimit is how many Landlock domains the kernel stacks at most: 16 from
// Linux 5.19 on and in the stable kernels that took the change, 64 before
// (commit 75c542d6c6cc, "landlock: Reduce the maximum number of layers to
// 16"). No interface tells how many a process has; see countLayers.
const (
	layerLimit    = 16
	oldLayerLimit = 64
)

// Layers counts Landlock domains stacked on a process; -1 is unknown.
type Layers struct {
	Used int `json:"used"`
	Free int `json:"free"`
}

// layersOf works out the layers of this process from what its child could
// stack on top of them.
func layersOf(o outcome) Layers {
	s, ok := o.find("stack")
	if !ok || !s.Done || s.err() != nil {
		return Layers{Used: -1, Free: -1}
	}
	free := s.Value
	if answer, ok := o.answer("restrict"); ok && answer == nil {
		free++ // the full ruleset took one
	}
	if free > layerLimit {
		return Layers{Used: oldLayerLimit - free, Free: free}
	}
	return Layers{Used: layerLimit - free, Free: free}
}

// String says how many layers are used.
func (l Layers) String() string {
	if l.Used < 0 {
		return "the number of Landlock layers is unknown"
	}
	return strconv.Itoa(l.Used) + " of " + strconv.Itoa(l.Used+l.Free) + " Landlock layers are used"
}
