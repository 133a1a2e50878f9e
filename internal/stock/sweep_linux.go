// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxSwept bounds how many leftovers one run looks at.
const maxSwept = 64

// sweep removes what runs have left that were killed before they could: a
// folder that nobody has locked is nobody's. What is not empty was not made by
// us, and stays.
func sweep(place *os.File) {
	names, _ := place.Readdirnames(maxSwept)
	for _, name := range names {
		fd, errno := lockFolder(place, name)
		if errno != 0 {
			continue
		}
		dir := os.NewFile(uintptr(fd), name)
		empty(dir)
		_ = sys.RemoveFolder(int(place.Fd()), name)
		_ = dir.Close()
	}
}

// maxCleared is more than any run keeps in its folder.
const maxCleared = 1024

// empty removes empty folders, and files, from a run's folder.
func empty(dir *os.File) {
	names, _ := dir.Readdirnames(maxCleared)
	for _, name := range names {
		if sys.RemoveFolder(int(dir.Fd()), name) == syscall.ENOTDIR {
			_ = sys.Unlink(int(dir.Fd()), name)
		}
	}
}
