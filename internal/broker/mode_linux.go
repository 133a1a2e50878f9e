// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// chmod, fchmod, fchmodat, fchmodat2: fs/open.c.

func chmod(t *task) syscall.Errno {
	on, errno := t.path(sys.AtCWD, 0, 0)
	if errno != 0 {
		return errno
	}
	return t.change(on, modeTo(t.args[1]))
}

func fchmodat(t *task) syscall.Errno {
	on, errno := t.path(t.reg(0), 1, 0)
	if errno != 0 {
		return errno
	}
	return t.change(on, modeTo(t.args[2]))
}

func fchmodat2(t *task) syscall.Errno {
	how, errno := atFlags(t.reg(3))
	if errno != 0 {
		return errno
	}
	on, errno := t.path(t.reg(0), 1, how)
	if errno != 0 {
		return errno
	}
	return t.change(on, modeTo(t.args[2]))
}

func fchmod(t *task) syscall.Errno { return t.change(t.fd(0), modeTo(t.args[1])) }

// modeTo sets permission bits. The kernel takes 16 bits of the register
// (umode_t), and ignores those above the permissions.
func modeTo(mode uint64) func(*object) syscall.Errno {
	return func(o *object) syscall.Errno { return sys.ChangeMode(o.fd, uint32(uint16(mode))) }
}
