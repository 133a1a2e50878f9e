// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"os"
	"path"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// List returns what is in a folder that a plan names: folders, files and
// special files, by their canonical names, but no symbolic links, which lead
// elsewhere or nowhere. What vanishes meanwhile is left out, and so are regular
// files of which file says that they don't matter, which spares a look at each;
// nil wants all.
func (r *Resolver) List(dir plan.Object, file func(name string) bool) ([]plan.Object, error) {
	pinned, err := r.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(pinned) }()
	fd, err := syscall.Openat(pinned, ".", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir.Path, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir.Path)
	defer func() { _ = f.Close() }()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	out := make([]plan.Object, 0, len(entries))
	for _, e := range entries {
		name := path.Join(dir.Path, e.Name())
		if file != nil && e.Type().IsRegular() && !file(name) {
			continue
		}
		var st syscall.Stat_t
		if err := sys.LstatAt(fd, e.Name(), &st); err != nil || st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			continue
		}
		kind := st.Mode & syscall.S_IFMT
		out = append(out, plan.Object{
			Path: name, Exists: true, Dir: kind == syscall.S_IFDIR,
			Special:    kind != syscall.S_IFDIR && kind != syscall.S_IFREG,
			Device:     kind == syscall.S_IFCHR || kind == syscall.S_IFBLK,
			Linked:     kind == syscall.S_IFREG && st.Nlink > 1,
			Executable: kind == syscall.S_IFREG && st.Mode&0o111 != 0,
			Dev:        uint64(st.Dev), Ino: st.Ino,
		})
	}
	return out, nil
}
