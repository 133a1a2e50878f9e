// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// openHow is struct open_how (linux/openat2.h), copied once.
type openHow struct{ flags, mode, resolve uint64 }

const (
	openHowSize = 24
	// openat2Flags are the flags that openat2(2) takes; others are EINVAL
	// there (VALID_OPEN_FLAGS, include/linux/fcntl.h).
	openat2Flags = 0x7fffc3
	// resolveFlags are those of Linux 5.12 (RESOLVE_NO_XDEV to RESOLVE_CACHED).
	resolveFlags  = 0x3f
	resolveInRoot = 0x10
)

// openat2 is open with a structure in memory, and with more to say about how
// the name is followed. What is wrong with the structure the kernel says.
func openat2(t *task) syscall.Errno {
	how, errno := t.copyHow()
	switch {
	case errno != 0, how.flags&^openat2Flags != 0, how.resolve&^resolveFlags != 0, how.mode&^0o7777 != 0:
		return letKernel
	case how.mode != 0 && how.flags&(syscall.O_CREAT|sys.OpenTemporary) == 0: // EINVAL
		return letKernel
	}
	return t.open(t.reg(0), 1, int(how.flags), uint32(how.mode), how.resolve)
}

// copyHow copies the caller's structure. A longer one is a newer one, and if
// it says something in what we don't know, the kernel may know it, or refuses
// it (E2BIG).
func (t *task) copyHow() (openHow, syscall.Errno) {
	size := t.args[3]
	if size < openHowSize || size > pageSize {
		return openHow{}, letKernel
	}
	b, errno := t.copyBytes(t.args[2], int(size))
	if errno != 0 {
		return openHow{}, errno
	}
	for _, more := range b[openHowSize:] {
		if more != 0 {
			return openHow{}, letKernel
		}
	}
	w := words(b[:openHowSize])
	return openHow{uint64(w[0]), uint64(w[1]), uint64(w[2])}, 0
}

// locateWithin is locate for a name that is to be followed with less freedom
// (RESOLVE_BENEATH and its like). The kernel follows it for us under the same
// restrictions, which hold for what it then pins; whatever they forbid, it
// shall refuse to the caller itself.
func (t *task) locateWithin(on target, resolve uint64) (*spot, syscall.Errno) {
	if resolve&resolveInRoot != 0 { // "/" is the folder that the name starts from
		if on.name = strings.TrimLeft(on.name, "/"); on.name == "" {
			on.name = "."
		}
	}
	at, errno := t.base(on)
	if errno != 0 {
		return nil, errno
	}
	defer closeBase(at)
	s := &spot{on: on}
	var dir string
	dir, s.last, s.slash = splitLast(on.name)
	final := sys.PinFlags(0)
	if on.how&noFollow != 0 {
		final = sys.PinLink
	}
	fd, errno := sys.PinWithin(at, on.name, final, resolve)
	if errno == 0 {
		s.through = t.closedLink(on)
		s.object, errno = t.b.describe(fd, oPath)
		if errno == 0 && t.b.ours(s.object.name) { // "self" meant us
			errno = letKernel
		}
		return s.orClosed(errno)
	}
	if errno != syscall.ENOENT || s.slash || s.last == ".." || s.last == "." {
		return nil, errno
	}
	return t.missingWithin(s, at, dir, resolve)
}

// closedLink returns the node of a link at the end of a name that a pattern
// matches, or nil. What the link leads to is not closed itself, so that it does
// no harm if it is another one by now.
func (t *task) closedLink(on target) *plan.Node {
	if on.how&noFollow != 0 || len(t.b.land.tree.Patterns()) == 0 {
		return nil
	}
	s, errno := t.locate(on)
	if errno != 0 {
		return nil
	}
	defer s.close()
	return s.through
}

// missingWithin is locateWithin where nothing stands at the end of the name.
func (t *task) missingWithin(s *spot, at int, dir string, resolve uint64) (*spot, syscall.Errno) {
	if dir == "" {
		dir = "."
	}
	fd, errno := sys.PinWithin(at, dir, 0, resolve)
	if errno != 0 {
		return nil, errno
	}
	if s.folder, errno = t.b.describe(fd, oPath); errno != 0 {
		return nil, errno
	}
	link, errno := sys.Pin(s.folder.fd, s.last, sys.PinLink)
	if errno == 0 { // a link that leads nowhere, or something that has come
		_ = syscall.Close(link)
		errno = letKernel
	}
	if errno == syscall.ENOENT {
		errno = 0
	}
	return s.orClosed(errno)
}

// orClosed returns the spot, or closes it where there is an errno.
func (s *spot) orClosed(errno syscall.Errno) (*spot, syscall.Errno) {
	if errno != 0 {
		s.close()
		return nil, errno
	}
	return s, 0
}
