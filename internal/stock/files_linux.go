// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// file is a file without a name in store (O_TMPFILE, open(2)), open for
// writing.
type file struct {
	fd  int
	ino uint64
}

// MakeFiles lays in n files on the file system of a folder, or none if that
// has no files without names.
func (s *Stock) MakeFiles(n int, dir string) {
	for range n {
		fd, errno := sys.OpenAt(sys.AtCWD, dir, syscall.O_RDWR|syscall.O_DIRECTORY|sys.OpenTemporary, 0o600)
		if errno != 0 {
			return
		}
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			_ = syscall.Close(fd)
			return
		}
		dev := uint64(st.Dev)
		s.files[dev] = append(s.files[dev], file{fd, st.Ino})
	}
}

// EachFile calls do with every file in store, and ends at the first error.
func (s *Stock) EachFile(do func(fd int, dev, ino uint64) error) error {
	for dev, files := range s.files {
		for _, f := range files {
			if err := do(f.fd, dev, f.ino); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Stock) takeFile(dev uint64) (file, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.files[dev]
	if len(files) == 0 {
		return file{}, false
	}
	last := len(files) - 1
	s.files[dev] = files[:last]
	return files[last], true
}

// giveBackFile returns a file that has got no name yet, emptied.
func (s *Stock) giveBackFile(dev uint64, f file) {
	if _, err := syscall.Seek(f.fd, 0, 0); err != nil || sys.Truncate(f.fd, 0) != 0 {
		_ = syscall.Close(f.fd)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[dev] = append(s.files[dev], f)
}

// waiting gives a file in store a name, for the moment before it changes names
// with the one that it replaces: in the run's own folder, where nobody sees
// it, or beside the other where that is on another mount.
func (s *Stock) waiting(dev uint64, f file, in Parent) (dir int, name string, errno syscall.Errno) {
	random, err := sys.RandomName()
	if err != nil {
		return -1, "", syscall.EIO
	}
	if sh := s.shelves[dev]; sh != nil {
		if errno := sys.Link(f.fd, int(sh.dir.Fd()), random); errno == 0 {
			return int(sh.dir.Fd()), random, 0
		}
	}
	random = ".ambit-" + random
	return in.FD, random, sys.Link(f.fd, in.FD, random)
}

func closeFiles(files map[uint64][]file) {
	for _, list := range files {
		for _, f := range list {
			_ = syscall.Close(f.fd)
		}
	}
}

// identityIn returns the inode number of a name in a folder, 0 if there is
// none.
func identityIn(dir int, name string) uint64 {
	var st syscall.Stat_t
	if err := sys.LstatAt(dir, name, &st); err != nil {
		return 0
	}
	return st.Ino
}

// fitting reports whether an object is one that a file in store can take the
// place of: with one name, and an owner who may give it away.
func fitting(st *syscall.Stat_t) bool {
	return st.Mode&syscall.S_IFMT == syscall.S_IFREG && st.Nlink == 1 && int(st.Uid) == os.Geteuid()
}
