// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package supervisor

import (
	"fmt"
	"os"
)

// Main fails on this system: nothing can be run.
func Main() int {
	fmt.Fprintln(os.Stderr, "ambit: cannot supervise on this system")
	return 1
}
