// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// bind gives a unix socket a name in a folder (unix_bind_bsd in
// net/unix/af_unix.c). Everything else is the kernel's: an abstract name is
// no place, and other families the filter has dealt with.
func bind(t *task) syscall.Errno {
	size := t.reg(2)
	if size < 0 || size > sockaddrMax {
		return letKernel
	}
	addr, errno := t.copyBytes(t.args[1], int(size))
	if errno != 0 {
		return letKernel
	}
	a := parseUnix(addr)
	if a.kind != pathname {
		return letKernel
	}
	sock, flags, errno := t.duplicate(t.reg(0))
	if errno != 0 {
		return letKernel
	}
	defer func() { _ = syscall.Close(sock) }()
	kind, errno := sys.SocketKindOf(sock)
	if flags&oPath != 0 || errno != 0 || kind.Domain != syscall.AF_UNIX {
		return letKernel
	}
	s, errno := t.locate(target{dir: sys.AtCWD, name: a.path, how: noFollow})
	if errno != 0 {
		return unfollowed(errno)
	}
	defer s.close()
	return t.atName(s, making, func() syscall.Errno { return bindIn(s, sock) })
}

// bindIn binds from within the folder: a name that leads there by a descriptor
// may be longer than an address can be. getsockname(2) then says the last
// component only.
func bindIn(s *spot, sock int) syscall.Errno {
	if errno := sys.EnterFolder(s.folder.fd); errno != 0 {
		return errno
	}
	errno := sys.Bind(sock, unixPath(s.raw()))
	root, e := sys.Pin(sys.AtCWD, "/", 0) // the folder shall not stay in use
	if e == 0 {
		_ = sys.EnterFolder(root)
		_ = syscall.Close(root)
	}
	return errno
}
