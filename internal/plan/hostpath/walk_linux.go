// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxLinks is how many symbolic links the kernel follows in one name
// (path_resolution(7)).
const maxLinks = 40

// walk resolves a name that leads through symbolic links. It goes from pinned
// directory to pinned directory, so that the links that it reports are the
// very ones that led to the object, whatever others rename meanwhile.
func (r *Resolver) walk(name string) (plan.Object, error) {
	w, err := r.begin(name)
	if err != nil {
		return plan.Object{}, err
	}
	defer w.close()
	return w.object()
}

// begin walks a name to its end. Its caller closes the walker, unless there
// is an error.
func (r *Resolver) begin(name string) (*walker, error) {
	start := "/"
	if !path.IsAbs(name) {
		start = "."
	}
	w, err := r.walkFrom(name, start)
	if errors.Is(err, syscall.EACCES) && r.below(name) {
		w, err = r.walkFrom(strings.TrimPrefix(name, r.cwd), ".")
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return w, nil
}

// object describes where a walk has come.
func (w *walker) object() (plan.Object, error) {
	obj, err := Describe(w.at)
	if w.missing != "" {
		obj = plan.Object{Path: path.Join(obj.Path, w.missing)}
	}
	obj.Links = w.links
	return obj, err
}

// walker is a walk that is under way.
type walker struct {
	r *Resolver
	// at pins the object that was reached.
	at int
	// rest is what of the name is still to be followed.
	rest string
	// missing is the part of the name that nothing stands under.
	missing string
	links   []plan.Link
}

func (w *walker) close() { _ = syscall.Close(w.at) }

// walkFrom follows the components of name from start on. The error is the
// bare errno.
func (r *Resolver) walkFrom(name, start string) (*walker, error) {
	at, err := sys.OpenPath(start)
	if err != nil {
		return nil, errnoIn(err)
	}
	w := &walker{r: r, at: at, rest: name}
	for w.rest != "" && w.missing == "" {
		if err := w.step(); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// step follows the next component.
func (w *walker) step() error {
	part, rest, _ := strings.Cut(strings.TrimLeft(w.rest, "/"), "/")
	if w.rest = rest; part == "" {
		return nil
	}
	next, err := sys.OpenPathAt(w.at, part)
	if errors.Is(err, syscall.ENOENT) {
		return w.miss(part)
	}
	if err != nil {
		return errnoIn(err)
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(next, &st); err != nil {
		_ = syscall.Close(next)
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
		w.enter(next)
		return nil
	}
	defer func() { _ = syscall.Close(next) }()
	return w.follow(next, part, st.Uid)
}

func (w *walker) enter(next int) {
	w.close()
	w.at = next
}

// miss notes that nothing stands under a component. What a ".." behind it
// would lead to nobody can say.
func (w *walker) miss(part string) error {
	w.missing = path.Join(part, w.rest)
	if strings.Contains("/"+w.rest+"/", "/../") {
		return syscall.ENOENT
	}
	return nil
}

// follow goes on where a symbolic link leads.
func (w *walker) follow(link int, name string, owner uint32) error {
	if len(w.links) == maxLinks {
		return syscall.ELOOP
	}
	dir, err := Describe(w.at)
	if err != nil {
		return errnoIn(err)
	}
	// The kernel's own answer comes first: it refuses some links
	// (protected_symlinks, proc_sys_fs(5)), and the magic ones of /proc lead
	// where no text says (proc_pid_fd(5)).
	followed, errno := sys.OpenAt(w.at, name, sys.OpenPathOnly, 0)
	if errno != 0 && errno != syscall.ENOENT {
		return errno
	}
	at := path.Join(dir.Path, name)
	l := plan.Link{Path: at, Doubtful: w.r.doubts(at, owner)}
	if kind, errno := sys.FSKindOf(link); errno == 0 && kind.Proc {
		if followed < 0 {
			return syscall.ENOENT
		}
		w.links = append(w.links, l)
		w.enter(followed)
		return nil
	}
	if followed >= 0 {
		_ = syscall.Close(followed)
	}
	w.links = append(w.links, l)
	return w.lead(link)
}

// lead puts a link's text before the rest of the name.
func (w *walker) lead(link int) error {
	target, errno := sys.ReadLinkAt(link, "")
	if errno != 0 {
		return errno
	}
	w.rest = target + "/" + w.rest
	if !path.IsAbs(target) {
		return nil
	}
	root, err := sys.OpenPath("/")
	if err != nil {
		return errnoIn(err)
	}
	w.enter(root)
	return nil
}

// errnoIn returns the errno of an error that names another object than the
// one which the caller asked about.
func errnoIn(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
