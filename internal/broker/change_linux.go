// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// change is the way of every call that changes one object: pin it, decide,
// and only then do it.
func (t *task) change(on target, do func(*object) syscall.Errno) syscall.Errno {
	o, errno := t.pin(on)
	if errno != 0 {
		return errno
	}
	defer o.close()
	if errno := t.alive(); errno != 0 {
		return errno
	}
	ok, node := mayChange(t.b.places(), o.facts)
	if n := t.b.exceptional(o); ok && n != nil && n.Mode < plan.Write {
		ok, node = false, n
	}
	if ok {
		return do(o)
	}
	// The kernel finds out about a read-only mount before it asks for
	// rights (mnt_want_write, fs/namespace.c).
	if kind, errno := sys.FSKindOf(o.fd); errno == 0 && kind.ReadOnly {
		return syscall.EROFS
	}
	return t.refuse(on.String(), o.name, node, syscall.EACCES)
}

// exceptional returns the exception that an object stood at when the plan was
// made, whatever name it was reached by now; nil for all others.
func (b *Broker) exceptional(o *object) *plan.Node {
	if b.land == nil {
		return nil
	}
	return b.land.denied[Inode{uint64(o.stat.Dev), o.stat.Ino}]
}
