// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxListed bounds how many listed folders stay pinned.
const maxListed = 8

// List returns what is in a folder that a plan names: folders, files and
// special files, by their canonical names, but no symbolic links, which lead
// elsewhere or nowhere. What vanishes meanwhile is left out, and so is a
// regular file whose name in the folder wanted, unless it is nil, does not ask
// for: it is not even looked at.
func (r *Resolver) List(dir plan.Object, wanted func(name string) bool) ([]plan.Object, error) {
	pinned, err := r.Open(dir)
	if err != nil {
		return nil, err
	}
	if _, known := r.listed[dir.Path]; !known && len(r.listed) < maxListed {
		r.listed[dir.Path] = pinned
	} else {
		defer func() { _ = syscall.Close(pinned) }()
	}
	return list(dir, pinned, wanted)
}

// Inside implements [plan.Resolver].
func (r *Resolver) Inside(dir plan.Object, wanted func(name string) bool) ([]plan.Object, error) {
	pinned, err := r.open(dir.Path, sys.OpenPathCanonical)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(pinned) }()
	out, err := list(dir, pinned, wanted)
	if errors.Is(err, syscall.EACCES) && shut(pinned) {
		return nil, nil
	}
	return out, err
}

// shut reports whether a directory is closed to this user, who can't open it
// either: nothing in it can be reached by name (path_resolution(7)).
func shut(dir int) bool {
	var st syscall.Stat_t
	if err := syscall.Fstat(dir, &st); err != nil || int(st.Uid) == os.Geteuid() {
		return false
	}
	_, errno := sys.Pin(dir, "nothing", sys.PinLink)
	return errno == syscall.EACCES
}

// list is List for a pinned directory.
func list(dir plan.Object, pinned int, wanted func(name string) bool) ([]plan.Object, error) {
	fd, err := syscall.Openat(pinned, ".", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir.Path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	entries, err := sys.Entries(fd)
	if err != nil {
		return nil, &os.PathError{Op: "list", Path: dir.Path, Err: err}
	}
	var out []plan.Object
	within := strings.TrimSuffix(dir.Path, "/") + "/"
	for _, e := range entries {
		// The folder's own word is enough for leaving something out: what has
		// no rule is the broker's.
		if e.Kind == sys.EntryLink || e.Kind == sys.EntryRegular && wanted != nil && !wanted(e.Name) {
			continue
		}
		var st syscall.Stat_t
		if err := sys.LstatAt(fd, e.Name, &st); err != nil || st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			continue
		}
		kind := st.Mode & syscall.S_IFMT
		out = append(out, plan.Object{
			Path: within + e.Name, Exists: true, Dir: kind == syscall.S_IFDIR,
			Special:    kind != syscall.S_IFDIR && kind != syscall.S_IFREG,
			Device:     kind == syscall.S_IFCHR || kind == syscall.S_IFBLK,
			Linked:     kind == syscall.S_IFREG && st.Nlink > 1,
			Names:      namesOf(&st),
			Foreign:    int(st.Uid) != os.Geteuid(),
			Executable: kind == syscall.S_IFREG && st.Mode&0o111 != 0,
			Dev:        uint64(st.Dev), Ino: st.Ino,
		})
	}
	return out, nil
}

// namesOf returns how many names a regular file has.
func namesOf(st *syscall.Stat_t) int {
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return 0
	}
	return int(st.Nlink)
}
