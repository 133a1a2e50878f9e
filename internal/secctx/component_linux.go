// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"slices"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// component describes what a descriptor pins.
func (g *gatherer) component(fd int, o sys.Object, field string) Component {
	c := Component{Kind: kindOf(o), Object: g.object(o), Mount: g.mountAt(o, field+".mount")}
	if c.Kind == "pipe" {
		c.Kind = "fifo"
	}
	c.Attributes = g.attributes(fd, o, field)
	if c.Kind == "link" {
		return c // it has no rights of its own (symlink(7))
	}
	c.ACL = g.acl(fd, "system.posix_acl_access", field+".acl")
	if c.Kind == "folder" {
		c.DefaultACL = g.acl(fd, "system.posix_acl_default", field+".default_acl")
	}
	c.Labels = g.fileLabels(fd, field)
	if c.Kind == "file" {
		c.FileCaps = g.fileCaps(fd, field)
	}
	if g.own() {
		c.MayRead, c.MayWrite, c.MayExecute = may(fd, 4), may(fd, 2), may(fd, 1)
	}
	return c
}

func may(fd int, mode uint32) *bool {
	yes := sys.MayAccess(fd, mode) == 0
	return &yes
}

// attribute reads an extended attribute; nil if the object has none.
func (g *gatherer) attribute(fd int, name, field string) []byte {
	buf := make([]byte, 1024)
	for {
		n, errno := sys.ReadAttribute(fd, name, buf)
		switch errno {
		case 0:
			return buf[:n]
		case syscall.ERANGE:
			if len(buf) < mostACL {
				buf = make([]byte, mostACL)
				continue
			}
			g.unknown(field, errno, "")
		case syscall.ENODATA, syscall.EOPNOTSUPP:
		default:
			g.unknown(field, errno, "")
		}
		return nil
	}
}

func (g *gatherer) acl(fd int, name, field string) []ACLEntry {
	b := g.attribute(fd, name, field)
	if b == nil {
		return nil
	}
	acl, err := parseACL(b, g.names.inACL)
	if err != nil {
		g.broken(field, err)
	}
	return acl
}

func (g *gatherer) fileCaps(fd int, field string) *FileCaps {
	b := g.attribute(fd, "security.capability", field+".file_capabilities")
	if b == nil {
		return nil
	}
	f, err := parseFileCaps(b)
	if err != nil {
		g.broken(field+".file_capabilities", err)
		return nil
	}
	return f
}

// fileLabels reads the labels that an active module looks at.
func (g *gatherer) fileLabels(fd int, field string) map[string]string {
	out := map[string]string{}
	active, err := sys.ActiveLSMs()
	for _, l := range [...][2]string{{"selinux", "security.selinux"}, {"smack", "security.SMACK64"}} {
		if err == nil && !slices.Contains(active, l[0]) {
			continue
		}
		if b := g.attribute(fd, l[1], field+".labels."+l[0]); b != nil {
			out[l[0]] = text(strings.TrimRight(string(b), "\x00"))
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// attributes asks statx, and where the file system tells it nothing, the
// ioctl of chattr(1), for which a file or folder must be opened.
func (g *gatherer) attributes(fd int, o sys.Object, field string) []string {
	out := []string{}
	for _, a := range [...]struct {
		bit  uint64
		name string
	}{{sys.AttrImmutable, "immutable"}, {sys.AttrAppend, "append"}, {sys.AttrVerity, "verity"}} {
		if o.Attributes&a.bit != 0 {
			out = append(out, a.name)
		}
	}
	if o.Known&(sys.AttrImmutable|sys.AttrAppend) == sys.AttrImmutable|sys.AttrAppend {
		return out
	}
	kind := kindOf(o)
	if kind != "file" && kind != "folder" {
		return out // a change of them needs no such attribute to be refused
	}
	open, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(fd), syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errno == 0 {
		var flags uint32
		flags, errno = sys.InodeFlags(open)
		closeFD(open)
		if flags&sys.InodeImmutable != 0 {
			out = append(out, "immutable")
		}
		if flags&sys.InodeAppend != 0 {
			out = append(out, "append")
		}
	}
	if errno != 0 {
		g.unknown(field+".attributes", errno, "to be allowed to open it, since this file system tells them in no other way")
		return nil
	}
	return out
}
