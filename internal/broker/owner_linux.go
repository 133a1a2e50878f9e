// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// chown, lchown, fchown, fchownat: fs/open.c.

func chown(t *task) syscall.Errno  { return t.ownerByPath(0) }
func lchown(t *task) syscall.Errno { return t.ownerByPath(noFollow) }

func (t *task) ownerByPath(how naming) syscall.Errno {
	on, errno := t.path(sys.AtCWD, 0, how)
	if errno != 0 {
		return errno
	}
	return t.change(on, ownerTo(t.args[1], t.args[2]))
}

func fchown(t *task) syscall.Errno { return t.change(t.fd(0), ownerTo(t.args[1], t.args[2])) }

func fchownat(t *task) syscall.Errno {
	how, errno := atFlags(t.reg(4))
	if errno != 0 {
		return errno
	}
	on, errno := t.path(t.reg(0), 1, how)
	if errno != 0 {
		return errno
	}
	return t.change(on, ownerTo(t.args[2], t.args[3]))
}

func ownerTo(uid, gid uint64) func(*object) syscall.Errno {
	return func(o *object) syscall.Errno { return sys.ChangeOwner(o.fd, uint32(uid), uint32(gid)) }
}
