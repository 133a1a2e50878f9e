// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// connect serves connect(2): net/socket.c. Everything happens to a duplicate
// of the caller's socket, with a copy of the address, and unix sockets are
// reached through a descriptor that pins them.
func connect(t *task) syscall.Errno {
	sock, flags, errno := t.duplicate(t.reg(0))
	if errno != 0 {
		return errno
	}
	c := &connection{t: t, sock: sock, flags: flags, socket: -1}
	defer func() {
		if !c.waits {
			c.close()
		}
	}()
	if flags&oPath != 0 {
		return syscall.EBADF
	}
	size := t.reg(2)
	if size < 0 || size > sockaddrMax {
		return syscall.EINVAL
	}
	if c.addr, errno = t.copyBytes(t.args[1], int(size)); errno != 0 {
		return errno
	}
	if c.kind, errno = sys.SocketKindOf(sock); errno != 0 {
		return errno
	}
	c.inner = t.restricted()
	if c.kind.Domain == syscall.AF_UNIX {
		return c.unix()
	}
	return c.network()
}

// connection is one attempt to connect.
type connection struct {
	t     *task
	sock  int
	flags int // F_GETFL
	kind  sys.SocketKind
	addr  []byte
	inner bool // the caller may be in a Landlock domain of its own
	// socket pins the unix socket to connect to, -1 if it is none with a path.
	socket int
	// abstract is the name to connect to, if it is one of those.
	abstract string
	// waits: the attempt goes on in the waiting room, and owns the descriptors.
	waits bool
}

func (c *connection) close() {
	_ = syscall.Close(c.sock)
	if c.socket >= 0 {
		_ = syscall.Close(c.socket)
	}
}

// network connects any other socket than a unix one. The filter lets the
// command make only those that the plan allows; one may also have come as
// stdin.
func (c *connection) network() syscall.Errno {
	if errno := c.t.alive(); errno != 0 {
		return errno
	}
	// Landlock has rights for TCP (ABI 4), which the caller may have given up;
	// from those for datagrams on (ABI 10) connecting is not brokered.
	inner := c.inner && c.kind.Type == syscall.SOCK_STREAM
	switch {
	case c.t.b.options.Network != plan.OpenNetwork:
		return c.t.refuseNetwork()
	case inner:
		return c.t.refuse("network address", "", nil, syscall.EACCES)
	}
	return c.perform(sys.Connect)
}

func (c *connection) unix() syscall.Errno {
	a := parseUnix(c.addr)
	switch a.kind {
	case malformed:
		return syscall.EINVAL
	case pathname:
		return c.toPath(a.path)
	}
	if errno := c.t.alive(); errno != 0 {
		return errno
	}
	if a.kind == abstract {
		return c.toAbstract(a.path)
	}
	return c.perform(sys.Connect)
}

// toPath needs write on the socket's place (the contract for unix sockets).
// The order of errors is unix_find_bsd's.
func (c *connection) toPath(path string) syscall.Errno {
	on := target{dir: sys.AtCWD, name: path}
	o, errno := c.t.pin(on)
	if errno != 0 {
		return errno
	}
	c.socket = o.fd
	if errno := c.t.alive(); errno != 0 {
		return errno
	}
	if o.stat.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return syscall.ECONNREFUSED
	}
	ok, node := mayChange(c.t.b.places(), o.facts)
	if n := c.t.b.exceptional(o); ok && n != nil && n.Mode < plan.Write {
		ok, node = false, n
	}
	if !ok {
		return c.t.refuse(on.String(), o.name, node, syscall.EACCES)
	}
	c.addr = unixPath(sys.FDPath(o.fd))
	return c.perform(sys.Connect)
}

// toAbstract connects to a name that has no place. Whether a process of the
// sandbox or another one listens there only the kernel can say for sure: by
// asking for the domain of whoever connects, and the broker's threads are in
// none. So it is done on a thread that is, or not at all.
func (c *connection) toAbstract(name string) syscall.Errno {
	scope := c.t.b.options.Scope
	if scope == nil || c.inner { // which may have a scope of its own (ABI 6)
		return c.t.refuse(name, "", nil, syscall.EPERM)
	}
	c.abstract = name
	return c.verdict(c.perform(scope.connect))
}

// verdict is the answer for what the kernel said. Of an abstract name it says
// that it is outside.
func (c *connection) verdict(errno syscall.Errno) syscall.Errno {
	if c.abstract != "" && errno == syscall.EPERM {
		return c.t.refuse(c.abstract, "", nil, errno)
	}
	return errno
}
