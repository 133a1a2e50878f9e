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
	cwd     string
	earlier Earlier // nil: no link is doubtful
	// folders are those that something was found missing in, by the names by
	// which they were asked for.
	folders map[string]plan.Object
	// listed are pinned folders, by their canonical names.
	listed map[string]int
}

// Earlier says what sandboxed commands of earlier runs could have made.
type Earlier interface {
	// Doubts reports whether one could have made the symbolic link at a
	// canonical name, which belongs to owner.
	Doubts(link string, owner uint32) bool
	// Covers reports whether one could have made or changed what stands at a
	// canonical name, and the place that the name lies in.
	Covers(name string) (place string, yes bool)
}

// New returns a resolver for this process's view of the file system. It takes
// no link for doubtful: what is opened by it was resolved before.
func New() *Resolver { return After(nil) }

// After returns a resolver that marks the links which commands of earlier runs
// could have made.
func After(earlier Earlier) *Resolver {
	cwd, err := syscall.Getwd() // the kernel's name, not $PWD's
	if err != nil || !path.IsAbs(cwd) {
		cwd = ""
	}
	return &Resolver{cwd: cwd, earlier: earlier, folders: map[string]plan.Object{}, listed: map[string]int{}}
}

func (r *Resolver) doubts(link string, owner uint32) bool {
	return r.earlier != nil && r.earlier.Doubts(link, owner)
}

// Resolve implements [plan.Resolver]. The name goes to the kernel as it is:
// ".." behind a symbolic link is not what a lexical clean-up makes of it.
func (r *Resolver) Resolve(name string) (plan.Object, error) {
	if len(name) > 1 {
		name = strings.TrimRight(name, "/")
	}
	if name == "" {
		name = "/"
	}
	if obj, known := r.folders[name]; known {
		return obj, nil
	}
	obj, err := r.straight(name)
	if !errors.Is(err, syscall.ENOENT) {
		return obj, err
	}
	// No link is on the way to what is missing, or the kernel had said so. A
	// missing object is named after its nearest directory that exists.
	dir, base := path.Split(name)
	if base == "" || base == ".." || base == "." {
		return plan.Object{}, err
	}
	if dir = strings.TrimRight(dir, "/"); dir == "" {
		dir = "/"
	}
	up, err := r.around(dir)
	return plan.Object{Path: path.Join(up.Path, base), Links: up.Links}, err
}

// straight resolves a name. The error is ENOENT only where no symbolic link
// is on the way to what is missing.
func (r *Resolver) straight(name string) (plan.Object, error) {
	fd, err := r.open(name, sys.OpenPathCanonical)
	// A container's filter may refuse openat2 (EPERM, ENOSYS). The walk tells
	// the same by openat; what the backend then lacks it says itself.
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		return r.walk(name)
	}
	if err != nil {
		return plan.Object{}, err
	}
	defer func() { _ = syscall.Close(fd) }()
	return Describe(fd)
}

// Find implements [plan.Resolver].
func (r *Resolver) Find(name string) (plan.Object, error) {
	obj, err := r.straight(name)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return plan.Object{Path: name}, nil
	}
	return obj, err
}

// around resolves the folder of something that is missing.
func (r *Resolver) around(dir string) (plan.Object, error) {
	obj, err := r.Resolve(dir)
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
		Linked:  kind == syscall.S_IFREG && st.Nlink > 1, Names: namesOf(&st),
		Foreign: int(st.Uid) != os.Geteuid(),
		Dev:     uint64(st.Dev), Ino: st.Ino,
	}, nil
}
