// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// descriptors lists what is open. What this process opened for itself is
// closed by exec, and therefore no part of what its caller gave it.
func (g *gatherer) descriptors() {
	dir, errno := sys.OpenAt(g.p.dir, "fd", syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if errno != 0 {
		g.unknown("descriptors", errno, needsTrace)
		return
	}
	defer syscall.Close(dir)
	entries, err := sys.Entries(dir)
	if err != nil {
		g.broken("descriptors", err)
		return
	}
	numbers := make([]int, 0, len(entries))
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	t := &tables{p: g.p}
	list := List[Descriptor]{Items: []Descriptor{}}
	for _, n := range numbers {
		if len(list.Items) == mostListed {
			list.Total++
			continue
		}
		if d, ok := g.descriptor(dir, n, t); ok {
			list.Items, list.Total = append(list.Items, d), list.Total+1
		}
	}
	g.c.Descriptors = &list
	if !g.own() {
		g.because("descriptors.reopen", "only the process itself can try", "to be gathered by the process itself")
	}
}

// fdFlags are the flags worth showing (linux/fcntl.h).
var fdFlags = [...]struct {
	bit  int
	name string
}{
	{syscall.O_APPEND, "append"}, {syscall.O_NONBLOCK, "nonblock"}, {syscall.O_DIRECTORY, "directory"},
	{syscall.O_CLOEXEC, "cloexec"}, {syscall.O_DIRECT, "direct"}, {0x400000, "tmpfile"},
}

// descriptor describes one; ok is false if it is this process's own, or closed
// by now.
func (g *gatherer) descriptor(dir, n int, t *tables) (d Descriptor, ok bool) {
	number := strconv.Itoa(n)
	target, errno := sys.ReadLinkAt(dir, number)
	if errno != 0 {
		return d, false
	}
	d = Descriptor{FD: n, Target: text(target)}
	field := "descriptors." + number
	flags, err := g.fdinfo(number)
	if err != nil {
		g.broken(field+".flags", err)
	} else if d.Access = accessName(flags); g.own() && flags&syscall.O_CLOEXEC != 0 {
		return d, false
	}
	for _, f := range fdFlags {
		if flags&f.bit == f.bit {
			d.Flags = append(d.Flags, f.name)
		}
	}
	pin, errno := sys.OpenAt(dir, number, oPath, 0)
	if errno != 0 {
		g.unknown(field+".kind", errno, needsTrace)
		return d, true
	}
	defer syscall.Close(pin)
	o, errno := sys.Describe(pin)
	if errno != 0 {
		g.unknown(field+".kind", errno, "")
		return d, true
	}
	d.Kind, d.Object = kindOf(o), g.object(o)
	d.Deleted = o.Links == 0 && strings.HasSuffix(target, " (deleted)")
	if d.Kind == "socket" {
		d.Socket = g.socketInfo(pin, n, o.Inode, t)
	}
	if g.own() {
		g.reopen(&d, pin, o)
	}
	return d, true
}

// fdinfo reads how a descriptor was opened (proc_pid_fdinfo(5)).
func (g *gatherer) fdinfo(number string) (flags int, err error) {
	content, errno := g.p.read("fdinfo/" + number)
	if errno != 0 {
		return 0, fmt.Errorf("cannot read its flags: %w", errno)
	}
	octal, ok := parseStatus(content)["flags"]
	n, err := strconv.ParseUint(octal, 8, 32)
	if !ok || err != nil {
		return 0, fmt.Errorf("cannot read its flags: %q", text(octal))
	}
	return int(n), nil
}

func accessName(flags int) string {
	switch {
	case flags&oPath != 0:
		return "path"
	case flags&syscall.O_ACCMODE == syscall.O_WRONLY:
		return "write"
	case flags&syscall.O_ACCMODE == syscall.O_RDWR:
		return "read-write"
	}
	return "read"
}

// reopen tries what a program does that opens /dev/stdin or /dev/fd/N. A file,
// a terminal and /dev/null are opened for real, since some modules decide
// there alone; it changes nothing, as O_TRUNC is not set. For the rest, where
// opening may block or do something, access(2) is asked.
func (g *gatherer) reopen(d *Descriptor, pin int, o sys.Object) {
	if d.Kind == "socket" || d.Kind == "anonymous" || d.Access == "path" || d.Access == "" {
		if d.Access != "" && d.Access != "path" {
			d.Reopen = "never" // ENXIO: open(2)
		}
		return
	}
	flags, mode := syscall.O_RDONLY, uint32(4)
	switch d.Access {
	case "write":
		flags, mode = syscall.O_WRONLY, 2
	case "read-write":
		flags, mode = syscall.O_RDWR, 6
	}
	var errno syscall.Errno
	if d.Kind == "file" || d.Kind == "folder" || d.Kind == "terminal" || isNull(o) {
		var fd int
		if fd, errno = sys.OpenAt(sys.AtCWD, sys.FDPath(pin), flags|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0); errno == 0 {
			_ = syscall.Close(fd)
		}
	} else {
		errno = sys.MayAccess(pin, mode)
	}
	if d.Reopen = "yes"; errno != 0 {
		d.Reopen, d.ReopenErrno = "no", sys.ErrnoName(errno)
	}
}

func isNull(o sys.Object) bool {
	return o.Mode&syscall.S_IFMT == syscall.S_IFCHR && o.DevMajor == 1 && o.DevMinor == 3
}

// kindOf names the type of an object. Descriptors without a file system behind
// them (epoll, eventfd) have no type (fs/anon_inodes.c).
func kindOf(o sys.Object) string {
	switch o.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return "file"
	case syscall.S_IFDIR:
		return "folder"
	case syscall.S_IFLNK:
		return "link"
	case syscall.S_IFIFO:
		return "pipe"
	case syscall.S_IFSOCK:
		return "socket"
	case syscall.S_IFBLK:
		return "block device"
	case syscall.S_IFCHR:
		if isTerminal(o.DevMajor) {
			return "terminal"
		}
		return "device"
	}
	return "anonymous"
}

// isTerminal knows the majors of terminals (Documentation/admin-guide/devices.txt).
func isTerminal(major uint32) bool { return major == 4 || major == 5 || major >= 136 && major <= 143 }

// object is what identifies a thing, and whose it is.
func (g *gatherer) object(o sys.Object) *Object {
	return &Object{
		Inode: o.Inode, Device: fmt.Sprintf("%d:%d", o.Major, o.Minor), Mode: fmt.Sprintf("%04o", o.Mode&0o7777),
		Owner: g.names.user(o.UID), Group: g.names.group(o.GID),
	}
}

// tables are the sockets of the process's network namespace, read when the
// first socket is met.
type tables struct {
	p          *process
	unix, inet map[uint64]SocketInfo
}

func (t *tables) find(inode uint64) SocketInfo {
	if t.unix == nil {
		b, _, _ := sys.ReadFrom(t.p.dir, "net/unix", mostLarge)
		t.unix, t.inet = parseUnixTable(string(b)), map[uint64]SocketInfo{}
		for _, name := range [...]string{"tcp", "tcp6", "udp", "udp6"} {
			b, _, _ := sys.ReadFrom(t.p.dir, "net/"+name, mostLarge)
			for inode, s := range parseInetTable(string(b)) {
				t.inet[inode] = s
			}
		}
	}
	if s, ok := t.inet[inode]; ok {
		return s
	}
	return t.unix[inode]
}

func (g *gatherer) socketInfo(pin, n int, inode uint64, t *tables) *SocketInfo {
	s := t.find(inode)
	s.Local = text(s.Local)
	buf := make([]byte, 64)
	// The attribute that lsof(8) reads: sockfs_xattr_get in net/socket.c.
	if size, errno := sys.ReadAttribute(pin, "system.sockprotoname", buf); errno == 0 {
		s.Protocol = text(strings.TrimRight(string(buf[:size]), "\x00"))
	} else {
		g.unknown(fmt.Sprintf("descriptors.%d.socket.protocol", n), errno, "")
	}
	if g.own() && strings.HasPrefix(s.Protocol, "UNIX") && !s.Listening {
		if pid, uid, errno := sys.PeerOf(n); errno == 0 && pid != 0 {
			s.PeerUID = &uid
		}
	}
	return &s
}
