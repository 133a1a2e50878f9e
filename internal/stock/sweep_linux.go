// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxSwept bounds how many leftovers one run looks at.
const maxSwept = 64

// sweep goes through what earlier runs have left in a place: it takes over one
// folder that is free, if there is one, and removes those that are unfit or too
// many. It also removes those of runs that were killed, which nobody has
// locked. They are never used again: a command can outlive its killed
// supervisor for a moment, and its rules would hold wherever their folders were
// put. What does not look like a run's folder, or is not empty, was not made by
// us, and stays.
func sweep(n int, place *os.File, dev uint64) *shelf {
	var mine *shelf
	names, _ := place.Readdirnames(maxSwept)
	surplus := len(names) - maxLeft
	for _, name := range names {
		own, free := strings.CutPrefix(name, freePrefix)
		if !drawn(own) || free && mine != nil && surplus <= 0 {
			continue
		}
		dir, errno := lockFolder(place, name, dev)
		if errno != 0 {
			continue
		}
		if free && mine == nil {
			if mine = takeOver(n, place, dir, name, dev); mine != nil {
				continue
			}
		}
		empty(dir)
		if sys.RemoveFolder(int(place.Fd()), name) == 0 {
			surplus--
		}
		_ = dir.Close()
	}
	return mine
}

// drawn reports whether a name looks like one of [sys.RandomName].
func drawn(name string) bool { return len(name) == 16 && strings.Trim(name, "0123456789abcdef") == "" }

// maxCleared is more than any run keeps in its folder.
const maxCleared = 1024

// empty removes empty folders, and what else a run gives a name there for a
// moment (see waiting), from a run's folder.
func empty(dir *os.File) {
	_, _ = dir.Seek(0, 0)
	names, _ := dir.Readdirnames(maxCleared)
	for _, name := range names {
		if sys.RemoveFolder(int(dir.Fd()), name) == syscall.ENOTDIR && drawn(name) {
			_ = sys.Unlink(int(dir.Fd()), name)
		}
	}
}
