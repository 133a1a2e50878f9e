// SPDX-License-Identifier: Apache-2.0

package written

import (
	"os"
	"path"
	"slices"
)

// Doubts reports whether a command of an earlier run could have made the
// symbolic link at a canonical name, which belongs to owner.
//
// Where there is no record, every link of this user is doubted that stands
// outside of the system's directories. A command without privileges makes
// links of its own user only (symlink(2)), and the system's directories are
// taken for closed to it, as in the threat model.
func (r *Record) Doubts(link string, owner uint32) bool {
	if r == nil {
		return false
	}
	if !r.Known() {
		return int(owner) == os.Geteuid() && !ofTheSystem(link)
	}
	_, yes := r.Covers(link)
	return yes
}

// systemDirs hold what a distribution installs.
var systemDirs = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/proc", "/sbin", "/sys", "/usr"}

func ofTheSystem(link string) bool {
	return path.Dir(link) == "/" || slices.ContainsFunc(systemDirs, func(d string) bool { return within(link, d) })
}
