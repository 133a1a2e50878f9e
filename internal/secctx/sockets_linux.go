// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// sockets says which of the sockets that programs look for are there. None is
// connected to: that could start a service.
func (g *gatherer) sockets() {
	if g.environ == nil && !g.own() {
		g.because("sockets", "the variables that name them can't be read", needsTrace)
		return
	}
	b, _, errno := sys.ReadFrom(g.p.dir, "net/unix", mostLarge)
	table := parseUnixTable(string(b))
	if errno != 0 {
		table = nil
	}
	for _, w := range wellKnown {
		s := Socket{Name: w.name, Variable: w.variable}
		value, set := lookup(g.environ, w.variable)
		path, ok := w.path(value, func(name string) string { v, _ := lookup(g.environ, name); return v })
		s.Set = set && value != ""
		switch {
		case !ok && s.Set:
			s.State = "elsewhere"
		case !ok:
			s.State = "none"
		default:
			g.socketState(&s, path, table)
		}
		g.c.Sockets = append(g.c.Sockets, s)
	}
}

func (g *gatherer) socketState(s *Socket, path string, table map[uint64]SocketInfo) {
	s.Path = text(path)
	if g.root < 0 || path[0] != '/' {
		s.State = "unknown"
		return
	}
	fd, errno := sys.PinWithin(g.root, path, 0, resolveInRoot)
	if errno == 0 {
		defer closeFD(fd)
		o, _ := sys.Describe(fd)
		if s.State = "present"; o.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
			s.State = "not a socket"
			return
		}
		if table != nil {
			listens := listensAt(table, path)
			s.Listening = &listens
		}
		if g.own() {
			errno = sys.MayAccess(fd, 2) // what connect needs: unix(7)
		}
	}
	switch errno {
	case 0:
		return
	case syscall.ENOENT, syscall.ENOTDIR:
		s.State = "absent"
	case syscall.EACCES, syscall.EROFS:
		if s.State = "refused"; !g.own() {
			s.State = "unknown"
		}
	default:
		s.State = "unknown"
	}
	s.Errno = sys.ErrnoName(errno)
}

// wellKnown are the sockets: the variable that names one, and how.
var wellKnown = [...]struct {
	name, variable string
	path           func(value string, other func(string) string) (string, bool)
}{
	{"x11", "DISPLAY", x11Path},
	{"wayland", "WAYLAND_DISPLAY", waylandPath},
	{"session-bus", "DBUS_SESSION_BUS_ADDRESS", sessionBusPath},
	{"system-bus", "DBUS_SYSTEM_BUS_ADDRESS", systemBusPath},
	{"docker", "DOCKER_HOST", dockerPath},
	{"ssh-agent", "SSH_AUTH_SOCK", func(v string, _ func(string) string) (string, bool) { return v, v != "" }},
	{"gpg-agent", "GNUPGHOME", gpgPath},
}
