// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"fmt"
)

// layersChild stacks trivial domains on itself until the kernel takes no more.
func layersChild(t teller, _ []string) { _ = t.count("stack", countLayers) }

// CountLayers counts the Landlock domains that this process is in, and so is
// every program that it starts. It takes a throw-away child and some ten system
// calls. The main function must have called [Dispatch].
//
// The error says why they can't be counted: ENOSYS or EOPNOTSUPP mean that
// this kernel has no Landlock, so there are none.
func CountLayers(ctx context.Context) (Layers, error) {
	o := runChild(ctx, childSpec{name: "layers"})
	err, _ := o.answer("stack")
	layers := layersOf(o)
	if err == nil && layers.Used < 0 {
		err = errUnheard
	}
	if err != nil {
		return Layers{Used: -1, Free: -1}, fmt.Errorf("cannot count the Landlock layers: %w", err)
	}
	return layers, nil
}
