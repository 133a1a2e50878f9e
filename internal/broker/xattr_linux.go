// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// setxattr and removexattr, each by path, by path without following, and by
// descriptor: fs/xattr.c. Name and value are copied before the path is, as
// the kernel does since Linux 6.13 (setxattr_copy).

func setxattr(t *task) syscall.Errno    { return t.setByPath(0) }
func lsetxattr(t *task) syscall.Errno   { return t.setByPath(noFollow) }
func removexattr(t *task) syscall.Errno { return t.removeByPath(0) }

func lremovexattr(t *task) syscall.Errno { return t.removeByPath(noFollow) }

func fsetxattr(t *task) syscall.Errno {
	do, errno := t.attributeToSet()
	if errno != 0 {
		return errno
	}
	return t.change(t.fd(0), do)
}

func (t *task) setByPath(how naming) syscall.Errno {
	do, errno := t.attributeToSet()
	if errno != 0 {
		return errno
	}
	return t.changeNamed(how, do)
}

func fremovexattr(t *task) syscall.Errno {
	do, errno := t.attributeToRemove()
	if errno != 0 {
		return errno
	}
	return t.change(t.fd(0), do)
}

func (t *task) removeByPath(how naming) syscall.Errno {
	do, errno := t.attributeToRemove()
	if errno != 0 {
		return errno
	}
	return t.changeNamed(how, do)
}

func (t *task) changeNamed(how naming, do func(*object) syscall.Errno) syscall.Errno {
	on, errno := t.path(sys.AtCWD, 0, how)
	if errno != 0 {
		return errno
	}
	return t.change(on, do)
}

// attributeToSet copies name, value, size and flags.
func (t *task) attributeToSet() (func(*object) syscall.Errno, syscall.Errno) {
	const create, replace = 1, 2 // linux/xattr.h
	flags := t.reg(4)
	if flags&^(create|replace) != 0 {
		return nil, syscall.EINVAL
	}
	name, errno := t.attributeName()
	if errno != 0 {
		return nil, errno
	}
	size := t.args[3]
	if size > xattrSizeMax {
		return nil, syscall.E2BIG
	}
	value, errno := t.copyBytes(t.args[2], int(size))
	if errno != 0 {
		return nil, errno
	}
	return func(o *object) syscall.Errno { return sys.SetAttribute(o.fd, name, value, int(flags)) }, 0
}

func (t *task) attributeToRemove() (func(*object) syscall.Errno, syscall.Errno) {
	name, errno := t.attributeName()
	if errno != 0 {
		return nil, errno
	}
	return func(o *object) syscall.Errno { return sys.RemoveAttribute(o.fd, name) }, 0
}

func (t *task) attributeName() (string, syscall.Errno) {
	name, errno := t.copyString(t.args[1], xattrNameMax+1, syscall.ERANGE)
	if errno == 0 && name == "" {
		errno = syscall.ERANGE
	}
	return name, errno
}
