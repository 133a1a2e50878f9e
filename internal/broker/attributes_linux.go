// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// getxattr and listxattr, each by path, by path without following, and by
// descriptor: fs/xattr.c. Landlock has no hook for them.

func getxattr(t *task) syscall.Errno  { return t.attributeByPath(0) }
func lgetxattr(t *task) syscall.Errno { return t.attributeByPath(noFollow) }

func fgetxattr(t *task) syscall.Errno {
	name, errno := t.attributeName()
	if errno != 0 {
		return errno
	}
	return t.read(t.fd(0), t.attribute(name))
}

func (t *task) attributeByPath(how naming) syscall.Errno {
	name, errno := t.attributeName()
	if errno != 0 {
		return errno
	}
	on, errno := t.path(sys.AtCWD, 0, how)
	if errno != 0 {
		return errno
	}
	return t.read(on, t.attribute(name))
}

func listxattr(t *task) syscall.Errno  { return t.attributesByPath(0) }
func llistxattr(t *task) syscall.Errno { return t.attributesByPath(noFollow) }
func flistxattr(t *task) syscall.Errno { return t.read(t.fd(0), t.attributes()) }

func (t *task) attributesByPath(how naming) syscall.Errno {
	on, errno := t.path(sys.AtCWD, 0, how)
	if errno != 0 {
		return errno
	}
	return t.read(on, t.attributes())
}

func (t *task) attribute(name string) func(*object) syscall.Errno {
	return t.measured(2, func(o *object, buf []byte) (int, syscall.Errno) {
		return sys.ReadAttribute(o.fd, name, buf)
	})
}

func (t *task) attributes() func(*object) syscall.Errno {
	return t.measured(1, func(o *object, buf []byte) (int, syscall.Errno) {
		return sys.ListAttributes(o.fd, buf)
	})
}

// measured reads into a buffer of the caller, which stands in the arguments
// from arg on: address and size. Size 0 asks for the length alone, and the
// address does not matter. More than XATTR_SIZE_MAX, which is also
// XATTR_LIST_MAX (linux/limits.h), counts as that; what does not fit into it
// is E2BIG (do_getxattr and listxattr in fs/xattr.c).
func (t *task) measured(arg int, read func(*object, []byte) (int, syscall.Errno)) func(*object) syscall.Errno {
	return func(o *object) syscall.Errno {
		buf := make([]byte, min(t.args[arg+1], xattrSizeMax))
		n, errno := read(o, buf)
		if errno != 0 {
			return errno
		}
		if len(buf) > 0 && n > 0 {
			errno = t.give(t.args[arg], buf[:n])
		}
		t.value = int64(n)
		return errno
	}
}
