// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// spot is where a name leads: a pinned folder, the last component in it, and
// what stands under that, pinned too.
type spot struct {
	on target
	// folder is nil where the object has no place in one: a name without a
	// last component of its own ("..", "/"), or one that a link of /proc led
	// to.
	folder *object
	last   string
	// slash: the caller put one behind the last component.
	slash bool
	// object is nil if nothing stands there.
	object *object
	// jumped: a link of /proc was followed to the object.
	jumped bool
	// through is the node that gives least to a symbolic link which was
	// followed at the end of the name; nil where no pattern matches one.
	through *plan.Node
	// lent: the folder is another spot's, too, which closes it.
	lent bool
}

func (s *spot) close() {
	if s.folder != nil && !s.lent {
		s.folder.close()
	}
	if s.object != nil {
		s.object.close()
	}
}

// raw is the last component as the caller wrote it: what the kernel thinks of
// the slash it shall say itself.
func (s *spot) raw() string {
	if s.slash {
		return s.last + "/"
	}
	return s.last
}

// path is the canonical name of the spot, empty if there is none.
func (s *spot) path() string {
	if s.folder == nil || (s.folder.place != named && s.folder.place != removed) {
		return ""
	}
	return join(s.folder.name, s.last)
}

// locate follows a name as the caller would, to its last component, and on
// from there if that is a symbolic link and the target says so.
func (t *task) locate(on target) (*spot, syscall.Errno) {
	if on.name == "" {
		o, errno := t.pin(on)
		return &spot{on: on, object: o}, errno
	}
	at, errno := t.base(on)
	if errno != 0 {
		return nil, errno
	}
	name := on.name
	var through *plan.Node
	for links := 0; links <= maxLinks; links++ {
		s, text, errno := t.locateFrom(at, name, on, links)
		switch {
		case errno != 0:
			return nil, errno
		case text == "":
			s.through = through
			return s, 0
		}
		if n := t.b.land.through(s.path()); n != nil && (through == nil || n.Mode < through.Mode) {
			through = n
		}
		at, name = s.folder.fd, text
		s.folder.fd = -1 // goes on as at
	}
	if at >= 0 {
		_ = syscall.Close(at)
	}
	return nil, syscall.ELOOP
}

// locateFrom is one round of locate. It takes over at, and returns the text
// of a link that is to be followed from the spot's folder.
func (t *task) locateFrom(at int, name string, on target, links int) (*spot, string, syscall.Errno) {
	dir, last, slash := splitLast(name)
	if last == "" || last == "." || last == ".." {
		o, errno := t.lookUp(at, target{name: name})
		closeBase(at)
		return &spot{on: on, object: o}, "", errno
	}
	s := &spot{on: on, last: last, slash: slash}
	var errno syscall.Errno
	if dir == "" {
		s.folder, errno = t.b.describe(at, oPath)
	} else {
		s.folder, errno = t.lookUp(at, target{name: dir})
		closeBase(at)
	}
	if errno != 0 {
		return nil, "", errno
	}
	if on.asks != plan.None && links == 0 && t.kernels(s) {
		s.close()
		return nil, "", letKernel
	}
	text, errno := t.lookAt(s, links)
	if errno != 0 {
		s.close()
		return nil, "", errno
	}
	return s, text, 0
}

// lookAt pins what stands at a spot, or returns the text of the link there.
func (t *task) lookAt(s *spot, links int) (string, syscall.Errno) {
	fd, errno := sys.Pin(s.folder.fd, s.last, sys.PinLink)
	switch {
	case errno == syscall.ENOENT:
		return "", 0
	case errno != 0:
		return "", errno
	}
	o, errno := t.b.describe(fd, oPath)
	if errno != 0 {
		return "", errno
	}
	if o.stat.Mode&syscall.S_IFMT != syscall.S_IFLNK || s.on.how&noFollow != 0 || s.slash && s.on.how&makes != 0 {
		s.object = o
		return "", 0
	}
	defer o.close()
	w := walker{t: t, at: s.folder.fd, links: links}
	led, text, errno := w.link(hop{name: s.last, last: true, folder: s.slash}, o)
	switch {
	case errno != 0:
		return "", errno
	case led == nil:
		if s.slash {
			text += "/"
		}
		return text, 0
	}
	s.folder.close()
	s.folder, s.object, s.jumped = nil, led, true
	return "", 0
}

// splitLast cuts a name before its last component.
func splitLast(name string) (dir, last string, slash bool) {
	bare := strings.TrimRight(name, "/")
	i := strings.LastIndexByte(bare, '/')
	return bare[:i+1], bare[i+1:], len(bare) < len(name)
}

// closeBase closes what task.base has opened.
func closeBase(fd int) {
	if fd >= 0 {
		_ = syscall.Close(fd)
	}
}
