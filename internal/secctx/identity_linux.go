// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// program says what runs, and where.
func (g *gatherer) program() {
	for _, l := range [...]struct {
		name string
		into *string
	}{{"exe", &g.c.Program.Executable}, {"cwd", &g.c.Program.Cwd}, {"root", &g.c.Program.Root}} {
		target, errno := g.p.link(l.name)
		if errno != 0 {
			g.unknown("program."+fieldOf(l.name), errno, needsTrace)
			continue
		}
		*l.into = text(target)
	}
	cmdline, _, errno := sys.ReadFrom(g.p.dir, "cmdline", mostLarge)
	if errno != 0 {
		g.unknown("program.arguments", errno, needsTrace)
		return
	}
	g.c.Program.Arguments = argumentsOf(string(cmdline))
}

func fieldOf(link string) string {
	if link == "exe" {
		return "executable"
	}
	return link
}

// identity reads who the process is.
func (g *gatherer) identity() {
	id := &g.c.Identity
	id.User = g.ids("Uid", "identity.user", g.names.user)
	id.Group = g.ids("Gid", "identity.group", g.names.group)
	if groups, err := g.status.numbers("Groups"); err != nil {
		g.broken("identity.groups", err)
	} else {
		list := make([]ID, len(groups))
		for i, n := range groups {
			list[i] = g.names.group(n)
		}
		id.Groups = listOf(list, mostListed)
	}
	if umask, ok := g.status["Umask"]; ok { // Linux 4.7
		id.Umask = text(umask)
	} else {
		g.because("identity.umask", "this kernel does not tell", "")
	}
}

// mostListed bounds the lists of groups, descriptors and mappings.
const mostListed = 1024

func (g *gatherer) ids(field, as string, name func(uint32) ID) *IDs {
	n, err := g.status.numbers(field)
	if err != nil || len(n) != 4 {
		g.because(as, "the status of the process does not tell", "")
		return nil
	}
	return &IDs{name(n[0]), name(n[1]), name(n[2]), name(n[3])}
}

// readNames reads the users and groups as the process sees them, and the maps
// through which the reader sees numbers.
func (g *gatherer) readNames() {
	g.names.users = g.database("etc/passwd", "names.users")
	g.names.groups = g.database("etc/group", "names.groups")
	g.names.uidMap, g.names.gidMap = ownMap("uid_map"), ownMap("gid_map")
}

func ownMap(name string) []Mapping {
	content, err := sys.ReadSmallFile("/proc/self/" + name)
	if err != nil {
		return nil
	}
	maps, err := parseMap(content)
	if err != nil {
		return nil
	}
	return maps
}

func (g *gatherer) database(name, as string) map[uint32]string {
	if g.root < 0 {
		g.because(as, "the root of the process can't be reached", needsTrace)
		return nil
	}
	content, errno := g.rooted(name)
	if errno != 0 {
		g.unknown(as, errno, "")
		return nil
	}
	return parseNames(content)
}

// resolveInRoot is RESOLVE_IN_ROOT (linux/openat2.h): absolute links and ".."
// stay in the root of the process.
const resolveInRoot = 0x10

// rooted reads a regular file in the root of the process. Who owns that root
// may have put a pipe or a device there, so what it is is asked first.
func (g *gatherer) rooted(name string) (string, syscall.Errno) {
	fd, errno := sys.PinWithin(g.root, name, 0, resolveInRoot)
	if errno != 0 {
		return "", errno
	}
	defer syscall.Close(fd)
	o, errno := sys.Describe(fd)
	if errno != 0 {
		return "", errno
	}
	if o.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return "", syscall.EINVAL
	}
	b, _, errno := sys.ReadFrom(sys.AtCWD, sys.FDPath(fd), mostDatabase)
	return string(b), errno
}

// environment reads which variables there are. Of another process these are
// the ones of its exec: it may have changed them since.
func (g *gatherer) environment() {
	if g.own() {
		g.environ = syscall.Environ()
	} else {
		b, _, errno := sys.ReadFrom(g.p.dir, "environ", mostLarge)
		if errno != 0 {
			g.unknown("environment", errno, needsTrace)
			return
		}
		g.environ = strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	}
	salt, err := sys.ReadSmallFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		g.because("environment.compared", "there is no boot_id to salt digests with", "a readable /proc/sys/kernel/random/boot_id")
	}
	g.c.Environment = environmentOf(g.environ, salt)
}
