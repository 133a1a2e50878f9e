// SPDX-License-Identifier: Apache-2.0

// Package hostpath answers the plan's questions about this host's paths.
package hostpath

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Resolver asks the kernel. It pins the object first and asks for the name
// of what it pinned, so that name and inode are of one object.
type Resolver struct {
	cwd string
}

// New returns a resolver for this process's view of the file system.
func New() *Resolver {
	cwd, err := syscall.Getwd() // the kernel's name, not $PWD's
	if err != nil || !path.IsAbs(cwd) {
		cwd = ""
	}
	return &Resolver{cwd: cwd}
}

// maxLinks is how many symbolic links the kernel follows in one name
// (path_resolution(7)).
const maxLinks = 40

// Resolve implements [plan.Resolver]. The name goes to the kernel as it is:
// ".." behind a symbolic link is not what a lexical clean-up makes of it.
func (r *Resolver) Resolve(name string) (plan.Object, error) {
	if len(name) > 1 {
		name = strings.TrimRight(name, "/")
	}
	if name == "" {
		name = "/"
	}
	obj, err := r.resolve(name, maxLinks)
	if err == nil && obj.Path != name {
		obj.Links, err = r.links(name)
	}
	return obj, err
}

// links walks a name part by part and returns the canonical names of the
// symbolic links in it, and in what they lead to. The walk ends where nothing
// stands.
func (r *Resolver) links(name string) ([]string, error) {
	var links []string
	at, rest := "/", name
	if !path.IsAbs(name) {
		at = r.cwd
	}
	for hops := 0; rest != ""; {
		part, more, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		rest = more
		next := path.Join(at, part) // at holds no link, so ".." is what it says
		target, err := os.Readlink(next)
		if part == "" || err != nil {
			at = next
			continue
		}
		links = append(links, next)
		if hops++; hops > maxLinks {
			return nil, &os.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		if path.IsAbs(target) {
			at = "/"
		}
		rest = target + "/" + rest
	}
	return links, nil
}

// Find implements [plan.Resolver].
func (r *Resolver) Find(name string) (plan.Object, error) {
	obj, err := r.pin(name)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return plan.Object{Path: name}, nil
	}
	return obj, err
}

// resolve names what does not exist after its nearest folder that does, and
// a link that leads nowhere after the link's target.
func (r *Resolver) resolve(name string, links int) (plan.Object, error) {
	obj, err := r.pin(name)
	if !errors.Is(err, syscall.ENOENT) {
		return obj, err
	}
	dir, base := path.Split(name)
	if links == 0 || base == "" || base == ".." || base == "." {
		return plan.Object{}, err
	}
	if dir = strings.TrimRight(dir, "/"); dir == "" {
		dir = "/"
	}
	up, err := r.resolve(dir, links-1)
	if err != nil {
		return plan.Object{}, err
	}
	target, err := os.Readlink(path.Join(up.Path, base))
	if err != nil {
		return plan.Object{Path: path.Join(up.Path, base)}, nil
	}
	if !path.IsAbs(target) {
		target = up.Path + "/" + target
	}
	return r.resolve(target, links-1)
}

// below reports whether name leads through the current directory, in which we
// stand even where a folder on the way to it is closed to us.
func (r *Resolver) below(name string) bool {
	return r.cwd != "" && (name == r.cwd || strings.HasPrefix(name, r.cwd+"/"))
}

// pin opens name without any access to its content and describes it.
func (r *Resolver) pin(name string) (plan.Object, error) {
	fd, err := sys.OpenPath(name)
	if errors.Is(err, syscall.EACCES) && r.below(name) {
		fd, err = sys.OpenPath("." + strings.TrimPrefix(name, r.cwd))
	}
	if err != nil {
		return plan.Object{}, err
	}
	defer func() { _ = syscall.Close(fd) }()
	return Describe(fd)
}

// Open pins an object that a plan names, and makes sure that it is still the
// one that the plan saw.
func (r *Resolver) Open(obj plan.Object) (int, error) {
	fd, err := sys.OpenPathCanonical(obj.Path)
	if errors.Is(err, syscall.EACCES) && r.below(obj.Path) {
		fd, err = sys.OpenPathCanonical("." + strings.TrimPrefix(obj.Path, r.cwd))
	}
	if err != nil {
		return -1, err
	}
	var now syscall.Stat_t
	if err = syscall.Fstat(fd, &now); err == nil && (uint64(now.Dev) != obj.Dev || now.Ino != obj.Ino) {
		err = fmt.Errorf("cannot use %q: %w", obj.Path, ErrChanged)
	}
	if err != nil {
		_ = syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

// ErrChanged: another object took a planned one's name.
var ErrChanged = errors.New("another object took its place while the sandbox was set up; run again")

// Describe names the object behind an O_PATH descriptor.
func Describe(fd int) (plan.Object, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return plan.Object{}, os.NewSyscallError("fstat", err)
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return plan.Object{}, fmt.Errorf("cannot learn a path's canonical name from /proc/self/fd (is /proc mounted?): %w", err)
	}
	// Removed objects read "name (deleted)", unreachable ones have no
	// leading slash (proc_pid_fd(5), d_path in fs/d_path.c).
	if st.Nlink == 0 || !path.IsAbs(name) {
		return plan.Object{}, &os.PathError{Op: "resolve", Path: name, Err: syscall.ESTALE}
	}
	kind := st.Mode & syscall.S_IFMT
	return plan.Object{
		Path: name, Exists: true,
		Dir:     kind == syscall.S_IFDIR,
		Special: kind != syscall.S_IFDIR && kind != syscall.S_IFREG,
		Device:  kind == syscall.S_IFCHR || kind == syscall.S_IFBLK,
		Dev:     uint64(st.Dev), Ino: st.Ino,
	}, nil
}
