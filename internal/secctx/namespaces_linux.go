// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// namespaceNames are the links below /proc/PID/ns (namespaces(7)).
var namespaceNames = [...]string{"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"}

func (g *gatherer) namespaces() {
	g.c.Namespaces = map[string]Namespace{}
	for _, name := range namespaceNames {
		inode, errno := namespaceInode(g.p.dir, name)
		if errno != 0 {
			g.unknown("namespaces."+name, errno, needsTrace)
			continue
		}
		fd, errno := sys.OpenAt(g.p.dir, "ns/"+name, syscall.O_RDONLY, 0)
		if errno != 0 {
			// AppArmor may refuse this where the link can be read.
			g.unknown("namespaces."+name+".owner", errno, needsTrace)
			g.c.Namespaces[name] = Namespace{Inode: inode}
			continue
		}
		g.c.Namespaces[name] = g.namespace(name, inode, fd)
		_ = syscall.Close(fd)
	}
	g.userNamespace()
}

// namespaceInode reads the number in a link such as "net:[4026531833]".
func namespaceInode(proc int, name string) (uint64, syscall.Errno) {
	target, errno := sys.ReadLinkAt(proc, "ns/"+name)
	if errno != 0 {
		return 0, errno
	}
	number := strings.TrimSuffix(strings.TrimPrefix(target, name+":["), "]")
	inode, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, syscall.EINVAL
	}
	return inode, 0
}

func (g *gatherer) namespace(name string, inode uint64, fd int) Namespace {
	n := Namespace{Inode: inode}
	if id, errno := sys.NamespaceID(fd); errno == 0 {
		n.ID = id
	}
	owner, errno := sys.NamespaceOwner(fd)
	if name == "user" {
		if uid, errno := sys.OwnerUID(fd); errno == 0 {
			n.OwnerUID = &uid
		} else {
			g.unknown("namespaces.user.owner_uid", errno, "")
		}
	}
	if errno != 0 {
		g.c.Unknown["namespaces."+name+".owner"] = Reason{
			Errno: sys.ErrnoName(errno), Why: "the user namespace that owns it is outside of the reader's own, or there is none above",
			Needs: "to be gathered from outside of this user namespace",
		}
		return n
	}
	above := inodeOf(owner)
	n.Owner = &above
	_ = syscall.Close(owner)
	return n
}

func inodeOf(fd int) uint64 {
	o, _ := sys.Describe(fd) // of an open descriptor: it can't fail
	return o.Inode
}

func (g *gatherer) userNamespace() {
	u := &g.c.UserNamespace
	for _, m := range [...]struct {
		name string
		into **List[Mapping]
	}{{"uid_map", &u.UIDMap}, {"gid_map", &u.GIDMap}} {
		content, errno := g.p.read(m.name)
		if errno != 0 {
			g.unknown("user_namespace."+m.name, errno, needsTrace)
			continue
		}
		maps, err := parseMap(content)
		if err != nil {
			g.broken("user_namespace."+m.name, err)
			continue
		}
		*m.into = listOf(maps, mostMappings)
	}
	setgroups, errno := g.p.read("setgroups")
	if errno != 0 {
		g.unknown("user_namespace.setgroups", errno, needsTrace)
		return
	}
	u.Setgroups = text(strings.TrimSpace(setgroups))
}
