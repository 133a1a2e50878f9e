// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"slices"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/plan"
)

// harmlessDevices have no ioctl, or none that changes something for whoever
// lacks CAP_SYS_ADMIN (null_fops and its like in drivers/char/mem.c;
// random_ioctl in drivers/char/random.c).
var harmlessDevices = []string{"/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"}

// readableDevice returns a place that is granted for reading alone, and is a
// device that ioctl(2) may change, or a folder that holds devices: /dev, what
// is in it, and what it is in. Those that an administrator made elsewhere are
// not looked for.
func readableDevice(t *plan.Tree) string {
	for _, n := range t.Grants() {
		o := n.Object
		switch {
		case n.Mode != plan.Read:
		case o.Device && !slices.Contains(harmlessDevices, o.Path),
			o.Dir && (o.Path == "/" || o.Path == "/dev" || strings.HasPrefix(o.Path, "/dev/")):
			return o.Path
		}
	}
	return ""
}
