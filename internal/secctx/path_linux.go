// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Bounds of following a path: the kernel's own (PATH_MAX; MAXSYMLINKS,
// linux/namei.h), and one for what a chain of links may come to.
const (
	mostPath  = 4096
	mostLinks = 40
	mostSteps = 512
)

// walker follows one path as the kernel would for the process: one name at a
// time, on pinned objects, links by their text, so that each step can be
// described. Only metadata is read. A single name can't leave the root, and
// ".." at the root stays there; magic links jump, as they do for the process.
type walker struct {
	g     *gatherer
	out   Path
	field string
	at    int    // the folder reached, pinned
	name  string // where it stands, as it is
	rest  []string
	links int
}

// path describes each step of the way to a name.
func (g *gatherer) path(asked string) {
	w := &walker{g: g, out: Path{Asked: text(asked), Components: []Component{}}, field: fmt.Sprintf("paths.%d", len(g.c.Paths)), at: -1}
	if errno := w.start(asked); errno != 0 {
		w.out.End, w.out.Errno = endOf(errno), sys.ErrnoName(errno)
	} else {
		w.follow()
	}
	if w.at >= 0 {
		closeFD(w.at)
	}
	w.out.Object = text(w.name)
	g.c.Paths = append(g.c.Paths, w.out)
}

func (w *walker) start(asked string) syscall.Errno {
	if len(asked) >= mostPath {
		return syscall.ENAMETOOLONG
	}
	from, name := w.g.cwd, w.g.cwdName()
	if strings.HasPrefix(asked, "/") {
		from, name = w.g.root, "/"
	}
	if from < 0 {
		w.g.because(w.field, "the root or the working directory of the process can't be reached", needsTrace)
		return syscall.EACCES
	}
	return w.enter(from, name, strings.Split(asked, "/"))
}

// cwdName is the working directory as the process names it.
func (g *gatherer) cwdName() string {
	cwd, _ := g.p.link("cwd")
	if root, _ := g.p.link("root"); root != "/" {
		cwd = strings.TrimPrefix(cwd, root)
	}
	return cwd
}

// enter goes on from another folder.
func (w *walker) enter(folder int, name string, rest []string) syscall.Errno {
	fd, errno := sys.Duplicate(folder)
	if errno != 0 {
		return errno
	}
	w.goTo(fd, name)
	w.rest = rest
	return w.record("")
}

func (w *walker) goTo(fd int, name string) {
	if w.at >= 0 {
		closeFD(w.at)
	}
	w.at, w.name = fd, name
}

// record describes what w.at pins.
func (w *walker) record(link string) syscall.Errno {
	o, errno := sys.Describe(w.at)
	if errno == 0 {
		w.add(w.at, o, w.name, link)
	}
	return errno
}

func (w *walker) add(fd int, o sys.Object, name, link string) {
	field := fmt.Sprintf("%s.components.%d", w.field, len(w.out.Components))
	c := w.g.component(fd, o, field)
	c.Name, c.Link = text(name), text(link)
	w.out.Components = append(w.out.Components, c)
}

func (w *walker) follow() {
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		if name == "" || name == "." {
			continue
		}
		errno := w.step(name)
		if errno == 0 && len(w.out.Components) >= mostSteps {
			errno = syscall.ENAMETOOLONG
		}
		if errno != 0 {
			w.out.End, w.out.Errno = endOf(errno), sys.ErrnoName(errno)
			w.name = join(w.name, strings.Join(append([]string{name}, w.rest...), "/"))
			return
		}
	}
	w.out.End = "found"
}

func (w *walker) step(name string) syscall.Errno {
	if name == ".." {
		return w.up()
	}
	fd, errno := sys.Pin(w.at, name, sys.PinLink)
	if errno != 0 {
		return errno
	}
	o, errno := sys.Describe(fd)
	if errno != 0 || o.Mode&syscall.S_IFMT != syscall.S_IFLNK {
		if errno == 0 {
			w.goTo(fd, join(w.name, name))
			w.add(fd, o, w.name, "")
			return 0
		}
		closeFD(fd)
		return errno
	}
	defer closeFD(fd)
	return w.link(fd, o, name)
}

// link follows a symbolic link.
func (w *walker) link(fd int, o sys.Object, name string) syscall.Errno {
	if w.links++; w.links > mostLinks {
		return syscall.ELOOP
	}
	target, errno := sys.ReadLinkAt(fd, "")
	if errno != 0 {
		return errno
	}
	kind, _ := sys.FSKindOf(fd)
	if kind.Proc {
		target = w.inProc(name, target)
	}
	w.add(fd, o, join(w.name, name), target)
	if kind.Proc && w.isJump(name) {
		w.out.Components[len(w.out.Components)-1].Jump = true
		to, errno := sys.Pin(w.at, name, sys.PinJumps)
		if errno != 0 {
			return errno
		}
		w.goTo(to, target)
		return w.record("")
	}
	rest := append(strings.Split(target, "/"), w.rest...)
	if strings.HasPrefix(target, "/") {
		return w.enter(w.g.root, "/", rest)
	}
	w.rest = rest
	return 0
}

// inProc says what a link of procfs says to the process: "self" is who reads
// it, and that would be us.
func (w *walker) inProc(name, target string) string {
	if w.g.own() || name != "self" && name != "thread-self" {
		return target
	}
	pids, err := w.g.status.numbers("NSpid")
	if err != nil || len(pids) == 0 {
		return target
	}
	pid := strconv.Itoa(int(pids[len(pids)-1]))
	if name == "thread-self" {
		return pid + "/task/" + pid
	}
	return pid
}

// isJump says whether a link of procfs leads to an object: then following it
// without magic links fails with ELOOP (openat2(2), RESOLVE_NO_MAGICLINKS).
func (w *walker) isJump(name string) bool {
	fd, errno := sys.Pin(w.at, name, 0)
	if errno == 0 {
		closeFD(fd)
	}
	return errno == syscall.ELOOP
}

// up follows "..", which at the root of the process stays there.
func (w *walker) up() syscall.Errno {
	here, errno := sys.Describe(w.at)
	root, errno2 := sys.Describe(w.g.root)
	if errno != 0 || errno2 != 0 {
		return max(errno, errno2)
	}
	if here.Inode == root.Inode && here.Major == root.Major && here.Minor == root.Minor && here.Mount == root.Mount {
		return 0
	}
	fd, errno := sys.Pin(w.at, "..", sys.PinLink)
	if errno != 0 {
		return errno
	}
	w.goTo(fd, join(w.name, ".."))
	return w.record("")
}

// join adds names to one that is free of links.
func join(folder, name string) string {
	if name == ".." {
		if i := strings.LastIndexByte(folder, '/'); i > 0 {
			return folder[:i]
		}
		return "/"
	}
	return strings.TrimSuffix(folder, "/") + "/" + name
}

func endOf(errno syscall.Errno) string {
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR:
		return "missing"
	case syscall.ELOOP:
		return "loop"
	case syscall.ENAMETOOLONG:
		return "too long"
	}
	return "refused"
}
