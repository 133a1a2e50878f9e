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
//
// A resolver is for one plan: what the folders around missing names are is asked
// once, and folders that were listed stay pinned until Close.
type Resolver struct {
	cwd string
	// folders are those that something was found missing in, by the names by
	// which they were asked for.
	folders map[string]plan.Object
	// listed are pinned folders, by their canonical names.
	listed map[string]int
}

// New returns a resolver for this process's view of the file system.
func New() *Resolver {
	cwd, err := syscall.Getwd() // the kernel's name, not $PWD's
	if err != nil || !path.IsAbs(cwd) {
		cwd = ""
	}
	return &Resolver{cwd: cwd, folders: map[string]plan.Object{}, listed: map[string]int{}}
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
	obj, known := r.folders[name]
	var err error
	if !known {
		obj, err = r.resolve(name, maxLinks)
	}
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
	fd, err := r.open(name, sys.OpenPathCanonical)
	straight := err == nil || errors.Is(err, syscall.ENOENT) // the kernel followed no link
	if !straight {
		fd, err = r.open(name, sys.OpenPath)
	}
	if err == nil {
		defer func() { _ = syscall.Close(fd) }()
		return Describe(fd)
	}
	if !errors.Is(err, syscall.ENOENT) {
		return plan.Object{}, err
	}
	dir, base := path.Split(name)
	if links == 0 || base == "" || base == ".." || base == "." {
		return plan.Object{}, err
	}
	if dir = strings.TrimRight(dir, "/"); dir == "" {
		dir = "/"
	}
	up, err := r.around(dir, links-1)
	if err != nil {
		return plan.Object{}, err
	}
	if straight { // so no link that leads nowhere stands there either
		return plan.Object{Path: path.Join(up.Path, base)}, nil
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

// around resolves the folder of something that is missing.
func (r *Resolver) around(dir string, links int) (plan.Object, error) {
	if obj, known := r.folders[dir]; known {
		return obj, nil
	}
	obj, err := r.resolve(dir, links)
	if err == nil {
		r.folders[dir] = obj
	}
	return obj, err
}

// below reports whether name leads through the current directory, in which we
// stand even where a folder on the way to it is closed to us.
func (r *Resolver) below(name string) bool {
	return r.cwd != "" && (name == r.cwd || strings.HasPrefix(name, r.cwd+"/"))
}

// pin opens name without any access to its content and describes it.
func (r *Resolver) pin(name string) (plan.Object, error) {
	fd, err := r.open(name, sys.OpenPath)
	if err != nil {
		return plan.Object{}, err
	}
	defer func() { _ = syscall.Close(fd) }()
	return Describe(fd)
}

func (r *Resolver) open(name string, open func(string) (int, error)) (int, error) {
	fd, err := open(name)
	if errors.Is(err, syscall.EACCES) && r.below(name) {
		return open("." + strings.TrimPrefix(name, r.cwd))
	}
	return fd, err
}

// Open pins an object that a plan names, and makes sure that it is still the
// one that the plan saw. What was found by listing a folder is looked for in
// that very folder.
func (r *Resolver) Open(obj plan.Object) (int, error) {
	fd, err := r.repin(obj.Path)
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

func (r *Resolver) repin(name string) (int, error) {
	if dir, known := r.listed[path.Dir(name)]; known && name != "/" {
		return sys.OpenPathAt(dir, path.Base(name))
	}
	return r.open(name, sys.OpenPathCanonical)
}

// Close lets go of the folders that were listed.
func (r *Resolver) Close() {
	for _, fd := range r.listed {
		_ = syscall.Close(fd)
	}
	clear(r.listed)
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
