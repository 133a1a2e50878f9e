// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Parent is the folder that something is to be made in, pinned.
type Parent struct {
	FD   int
	Stat *syscall.Stat_t
}

// unmeant are flags of folders that say how ext4 stores them, and that it
// sets by itself: EXT4_INDEX_FL, EXT4_TOPDIR_FL, EXT4_HUGE_FILE_FL,
// EXT4_EXTENTS_FL, EXT4_INLINE_DATA_FL (fs/ext4/ext4.h). All others a new
// folder may inherit from the one it is made in (EXT4_FL_INHERITED).
const unmeant = 0x1000 | 0x20000 | 0x40000 | 0x80000 | 0x10000000

// fits reports whether mkdir(2) would make the very folder that is in store,
// but for its mode and times. It would not where the parent hands something
// down: its group (S_ISGID, or a mount with grpid), default permissions
// (acl(5)), flags, a security label. And a folder that its owner may not write
// can't be moved (rename(2), EACCES).
func (sh *shelf) fits(in Parent, mode uint32) bool {
	const wanted = syscall.S_IWUSR
	if mode&wanted == 0 || in.Stat.Mode&syscall.S_ISGID != 0 || int(in.Stat.Gid) != os.Getegid() {
		return false
	}
	_, errno := sys.ReadAttribute(in.FD, "system.posix_acl_default", nil)
	if errno != syscall.ENODATA && errno != syscall.EOPNOTSUPP || labelOf(in.FD) != sh.label {
		return false
	}
	fd, errno := sys.OpenAt(in.FD, ".", syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if errno != 0 {
		return false // it can't be listed, and so not asked either
	}
	defer func() { _ = syscall.Close(fd) }()
	flags, errno := sys.InodeFlags(fd)
	return errno == 0 && flags&^unmeant == 0
}

// plainLabel returns the security label of an open folder, and whether it has
// no attributes besides.
func plainLabel(fd int) (label string, plain bool) {
	var buf [256]byte
	n, errno := sys.ListAttributes(fd, buf[:])
	if errno == syscall.EOPNOTSUPP || errno == 0 && n == 0 {
		return "", true
	}
	if errno != 0 {
		return "", false
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00") {
		if !slices.Contains(labels[:], name) {
			return "", false
		}
	}
	return labelOf(fd), true
}

// labels are the attributes that hold security labels.
var labels = [...]string{"security.selinux", "security.SMACK64"}

// labelOf returns the security label of a pinned object, empty where there is
// none (SELinux, Smack).
func labelOf(fd int) string {
	var buf [256]byte
	for _, name := range labels {
		n, errno := sys.ReadAttribute(fd, name, buf[:])
		switch {
		case errno == 0:
			return name + string(buf[:n])
		case errno == syscall.ERANGE:
			return name
		}
	}
	return ""
}
