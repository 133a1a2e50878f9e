// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// walker follows a name one hop at a time, as the caller would, where the
// kernel would follow it as the broker.
type walker struct {
	t     *task
	at    int // the folder reached, pinned
	links int // symbolic links followed so far
}

// maxLinks is how many symbolic links the kernel follows in one name
// (path_resolution(7); MAXSYMLINKS, linux/namei.h).
const maxLinks = 40

// hop is a name cut at its first component.
type hop struct {
	name string
	rest string // what comes after it
	// last: nothing does. folder: but a slash, so it must be a folder.
	last, folder bool
}

func cut(name string) hop {
	first, rest, slash := strings.Cut(name, "/")
	rest = strings.TrimLeft(rest, "/")
	return hop{name: first, rest: rest, last: rest == "", folder: slash}
}

// walk follows name from base, as lookUp does in one step.
func (t *task) walk(base int, name string, how naming) (*object, syscall.Errno) {
	w := walker{t: t, at: -1}
	defer func() { w.enter(-1) }()
	start := "."
	if name[0] == '/' {
		start = "/"
	}
	at, errno := sys.Pin(base, start, sys.PinPlain)
	if errno != 0 {
		return nil, errno
	}
	w.enter(at)
	return w.follow(name, how)
}

// enter makes a folder the one that the next hop starts from.
func (w *walker) enter(fd int) {
	if w.at >= 0 {
		_ = syscall.Close(w.at)
	}
	w.at = fd
}

func (w *walker) follow(name string, how naming) (*object, syscall.Errno) {
	for {
		name = strings.TrimLeft(name, "/")
		if name == "" {
			fd := w.at
			w.at = -1
			return w.t.b.describe(fd, oPath)
		}
		h := cut(name)
		o, text, errno := w.step(h, how)
		switch {
		case errno != 0:
			return nil, errno
		case o == nil: // a link that says where to go on
			if name = text; h.folder {
				name += "/" + h.rest
			}
			if text[0] == '/' {
				root, errno := sys.Pin(sys.AtCWD, "/", sys.PinPlain)
				if errno != 0 {
					return nil, errno
				}
				w.enter(root)
			}
			continue
		case (h.folder || !h.last) && o.stat.Mode&syscall.S_IFMT != syscall.S_IFDIR:
			o.close()
			return nil, syscall.ENOTDIR
		case h.last:
			return o, 0
		}
		w.enter(o.fd)
		name = h.rest
	}
}

// step pins what stands under one component: the object, or the text of a
// symbolic link that is to be followed.
func (w *walker) step(h hop, how naming) (*object, string, syscall.Errno) {
	fd, errno := sys.Pin(w.at, h.name, sys.PinLink)
	if errno != 0 {
		return nil, "", errno
	}
	o := &object{fd: fd, flags: oPath}
	if err := syscall.Fstat(fd, &o.stat); err != nil {
		o.close()
		return nil, "", asErrno(err)
	}
	link := o.stat.Mode&syscall.S_IFMT == syscall.S_IFLNK
	if link && (!h.last || h.folder || how&noFollow == 0) {
		defer o.close()
		return w.link(h, o)
	}
	if !h.last {
		return o, "", 0
	}
	o, errno = w.t.b.describe(fd, oPath)
	return o, "", errno
}

// link follows a symbolic link: to its text, or, where that is one of /proc
// that leads to an object without naming it, to the object.
func (w *walker) link(h hop, l *object) (*object, string, syscall.Errno) {
	if w.links++; w.links > maxLinks {
		return nil, "", syscall.ELOOP
	}
	kind, errno := sys.FSKindOf(l.fd)
	switch {
	case errno != 0:
		return nil, "", errno
	case kind.NoLinks:
		return nil, "", syscall.ELOOP
	case kind.Proc:
		return w.procLink(h)
	case h.last && !w.mayFollow(l):
		return nil, "", syscall.EACCES
	}
	text, errno := sys.ReadLinkAt(l.fd, "")
	if errno == 0 && text == "" {
		errno = syscall.ENOENT
	}
	return nil, text, errno
}

// mayFollow applies fs.protected_symlinks (proc_sys_fs(5)): in a folder where
// everybody may put links, those of others are not followed at the end of a
// name (may_follow_link in fs/namei.c).
func (w *walker) mayFollow(l *object) bool {
	var dir syscall.Stat_t
	const shared = syscall.S_ISVTX | syscall.S_IWOTH
	switch {
	case int(l.stat.Uid) == syscall.Geteuid():
		return true
	case syscall.Fstat(w.at, &dir) != nil:
		return false
	case dir.Mode&shared != shared, dir.Uid == l.stat.Uid:
		return true
	}
	text, err := sys.ReadSmallFile("/proc/sys/fs/protected_symlinks")
	return err == nil && strings.TrimSpace(text) == "0"
}
