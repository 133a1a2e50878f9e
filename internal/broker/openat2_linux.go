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
	resolveFlags   = 0x3f
	resolveBeneath = 0x8
	resolveInRoot  = 0x10
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
	var through *plan.Node
	for links := 0; links <= maxLinks; links++ {
		s, text, errno := t.followWithin(at, on, resolve, links)
		switch {
		case errno != 0:
			return nil, errno
		case text == "":
			s.through = least(s.through, through)
			return s, 0
		}
		through = least(through, t.b.land.through(s.path()))
		s.close()
		if on.name, errno = nextWithin(on.name, text, resolve); errno != 0 {
			return nil, errno
		}
	}
	return nil, syscall.ELOOP
}

// least returns the node that gives less; nil gives all.
func least(a, b *plan.Node) *plan.Node {
	if a == nil || b != nil && b.Mode < a.Mode {
		return b
	}
	return a
}

// nextWithin is the name to go on with behind a link at the end of name, from
// where that name started: what the restrictions say of the way holds for all
// of it.
func nextWithin(name, text string, resolve uint64) (string, syscall.Errno) {
	dir, _, _ := splitLast(name)
	switch {
	case text[0] != '/':
		return dir + text, 0
	case resolve&resolveBeneath != 0:
		return "", syscall.EXDEV
	case resolve&resolveInRoot != 0:
		return strings.TrimLeft(text, "/"), 0
	}
	return text, 0
}

// followWithin is one round of locateWithin. It returns the text of a link that
// leads to nothing yet.
func (t *task) followWithin(at int, on target, resolve uint64, links int) (*spot, string, syscall.Errno) {
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
		return s.orClosed("", errno)
	}
	if errno != syscall.ENOENT || s.last == "" || s.last == ".." || s.last == "." {
		return nil, "", errno
	}
	return t.missingWithin(s, at, dir, resolve, links)
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

// missingWithin is followWithin where nothing stands at the end of the name.
func (t *task) missingWithin(s *spot, at int, dir string, resolve uint64, links int) (*spot, string, syscall.Errno) {
	if dir == "" {
		dir = "."
	}
	fd, errno := sys.PinWithin(at, dir, 0, resolve)
	if errno != 0 {
		return nil, "", errno
	}
	if s.folder, errno = t.b.describe(fd, oPath); errno != 0 {
		return nil, "", errno
	}
	text, errno := t.lookAt(s, links)
	if errno == 0 && s.object != nil { // it has come by now, unrestricted
		errno = letKernel
	}
	return s.orClosed(text, errno)
}

// orClosed returns the spot and the text, or closes it where there is an errno.
func (s *spot) orClosed(text string, errno syscall.Errno) (*spot, string, syscall.Errno) {
	if errno != 0 {
		s.close()
		return nil, "", errno
	}
	return s, text, 0
}
