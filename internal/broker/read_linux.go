// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// read is the way of every call that reads of one object: pin it, decide, and
// only then do it.
func (t *task) read(on target, do func(*object) syscall.Errno) syscall.Errno {
	o, errno := t.pin(on)
	if errno != 0 {
		return errno
	}
	defer o.close()
	if errno := t.alive(); errno != 0 {
		return errno
	}
	if ok, node := t.mayRead(o); !ok {
		t.wants = plan.Read
		return t.refuse(on.String(), o.name, node, syscall.EACCES)
	}
	return do(o)
}

// mayRead decides over an object, whose content may be closed under another
// name than it was found by.
func (t *task) mayRead(o *object) (bool, *plan.Node) {
	held := o.held()
	if land := t.b.land; land != nil && !held && o.stat.Nlink > 1 {
		if n := land.denied[Inode{uint64(o.stat.Dev), o.stat.Ino}]; n != nil && n.Mode < plan.Read {
			return false, n
		}
	}
	return mayRead(t.b.places(), o.facts, held)
}

// held reports whether the caller has the object open for reading or writing,
// so that Landlock or whoever passed the descriptor on has granted it. Access
// mode 3 is neither, and Landlock grants it on every file
// (get_required_file_open_access in security/landlock/fs.c).
func (o *object) held() bool {
	return o.flags&oPath == 0 && o.flags&syscall.O_ACCMODE != syscall.O_ACCMODE
}

// give copies what was read to the caller, which may have died meanwhile: its
// number is another's then. As where the kernel copies, it may have got a part
// when the answer is EFAULT.
func (t *task) give(addr uint64, data []byte) syscall.Errno {
	if errno := t.alive(); errno != 0 {
		return errno
	}
	n, errno := sys.PlaceMemory(t.tid, addr, data)
	switch {
	case errno != 0:
		return closed(errno)
	case n != len(data):
		return syscall.EFAULT
	}
	return 0
}
