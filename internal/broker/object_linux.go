// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// object is a pinned object: whatever becomes of its name, fd stays it.
type object struct {
	fd int
	// flags are those of the caller's descriptor, if the object was reached
	// by one and fd is its duplicate; O_PATH otherwise.
	flags int
	stat  syscall.Stat_t
	facts
}

// oPath is O_PATH (asm-generic/fcntl.h), which package syscall lacks.
const oPath = 0x200000

func (o *object) close() { _ = syscall.Close(o.fd) }

// describe learns what a decision needs of the object that fd pins. It owns
// fd, and closes it on error.
func (b *Broker) describe(fd, flags int) (*object, syscall.Errno) {
	o := &object{fd: fd, flags: flags}
	if errno := b.inspect(o); errno != 0 {
		o.close()
		return nil, errno
	}
	return o, 0
}

func (b *Broker) inspect(o *object) syscall.Errno {
	if err := syscall.Fstat(o.fd, &o.stat); err != nil {
		return asErrno(err)
	}
	kind := o.stat.Mode & syscall.S_IFMT
	o.device = kind == syscall.S_IFCHR || kind == syscall.S_IFBLK
	// Access mode 3 opens for neither reading nor writing (open(2), "File
	// access mode"), and Landlock lets it pass.
	mode := o.flags & syscall.O_ACCMODE
	o.writable = o.flags&oPath == 0 && (mode == syscall.O_WRONLY || mode == syscall.O_RDWR)
	name, errno := b.nameOf(o.fd)
	if errno != 0 {
		// Longer than PATH_MAX: there is a place, and no way to say it.
		o.place = nowhere
		return 0
	}
	o.name, o.place = name, b.placeOf(name, &o.stat)
	if o.place == removed {
		o.name = strings.TrimSuffix(name, deletedSuffix)
	}
	return 0
}

// nameOf returns the present canonical name of what a descriptor pins.
func (b *Broker) nameOf(fd int) (string, syscall.Errno) {
	return sys.ReadLinkAt(b.fds, strconv.Itoa(fd))
}

// deletedSuffix is what the kernel puts behind the last name of an object
// that has lost it (d_path in fs/d_path.c). Files may be called so too.
const deletedSuffix = " (deleted)"

// placeOf tells what kind of name the kernel gave.
func (b *Broker) placeOf(name string, st *syscall.Stat_t) place {
	switch {
	case !strings.HasPrefix(name, "/"):
		return unnamedPlace(name)
	case !strings.HasSuffix(name, deletedSuffix), b.stands(name, st):
		return named
	case strings.HasPrefix(name, "/memfd:"):
		return unnamed
	}
	return removed
}

// unnamedPlace sorts the names of objects outside of every folder (dname of
// their file systems, "pipe:[1234]"). A pipe or a socket is its holders'
// alone. The others are shared by the whole kernel (anon_inode, namespaces),
// or lie in a mount that can't be reached from here.
func unnamedPlace(name string) place {
	if strings.HasPrefix(name, "pipe:[") || strings.HasPrefix(name, "socket:[") {
		return unnamed
	}
	return nowhere
}

// stands reports whether an object is really called so. The name is looked
// up, but nothing is done with what is found.
func (b *Broker) stands(name string, st *syscall.Stat_t) bool {
	fd, errno := sys.Pin(sys.AtCWD, name, sys.PinLink|sys.PinPlain)
	if errno != 0 {
		return false
	}
	defer func() { _ = syscall.Close(fd) }()
	var at syscall.Stat_t
	return syscall.Fstat(fd, &at) == nil && at.Dev == st.Dev && at.Ino == st.Ino
}

func asErrno(err error) syscall.Errno {
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	return syscall.EIO
}
