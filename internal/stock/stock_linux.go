// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"sync"
	"syscall"
)

// Stock is what one run has in store: a shelf for each file system. It is for
// several threads. The nil *Stock is empty.
type Stock struct {
	mu      sync.Mutex
	shelves map[uint64]*shelf // by st_dev
	files   map[uint64][]file // by st_dev
	// replacing is held while a file is replaced: of two threads that want the
	// same, the second one finds it done.
	replacing sync.Mutex
}

// folder is an empty folder in store.
type folder struct {
	name string // in the shelf's own folder
	ino  uint64
	fd   int // open from when it is laid in until Each; -1 after it
}

func (f *folder) close() {
	if f.fd >= 0 {
		_ = syscall.Close(f.fd)
		f.fd = -1
	}
}

// Make lays in n folders for each of the file systems devs (stat(2), st_dev).
// Folders that
// an earlier run has left are used again (see [Stock.Leave]), the others made.
// They are kept in one of the places (see [Places]), the best first; closed
// tells of a canonical path that the command gets no access to it.
func Make(n int, devs []uint64, places []string, closed func(path string) bool) *Stock {
	s := &Stock{shelves: map[uint64]*shelf{}, files: map[uint64][]file{}}
	for _, dev := range devs {
		for _, p := range places {
			if sh := newShelf(n, p, dev, closed); sh != nil {
				s.shelves[dev] = sh
				break
			}
		}
	}
	return s
}

// Each calls do with every folder in store, open, closes it, and ends at the
// first error. It is called once.
func (s *Stock) Each(do func(fd int, dev, ino uint64) error) error {
	for dev, sh := range s.shelves {
		for i := range sh.folders {
			f := &sh.folders[i]
			if err := do(f.fd, dev, f.ino); err != nil {
				return err
			}
			f.close()
		}
	}
	return nil
}

// Put makes a folder under a name by taking one from the store, with all that
// mkdir(2) gives it: mode, which the caller's umask has been taken from
// already, and times. It reports whether it did. Where it did not, nothing has
// happened, and mkdir knows why, or how.
func (s *Stock) Put(in Parent, name string, mode uint32) bool {
	if s == nil {
		return false
	}
	sh, f, ok := s.take(uint64(in.Stat.Dev))
	if !ok {
		return false
	}
	errno := syscall.EPERM
	if sh.fits(in, mode) {
		errno = sh.put(f, in.FD, name, mode)
	}
	if errno != 0 {
		s.giveBack(sh, f, errno)
	}
	return errno == 0
}

func (s *Stock) take(dev uint64) (*shelf, folder, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shelves[dev]
	if sh == nil || sh.shut || len(sh.folders) == 0 {
		return nil, folder{}, false
	}
	last := len(sh.folders) - 1
	f := sh.folders[last]
	sh.folders = sh.folders[:last]
	return sh, f, true
}

// giveBack returns a folder that could not be put.
func (s *Stock) giveBack(sh *shelf, f folder, errno syscall.Errno) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh.folders = append(sh.folders, f)
	// Another mount of the same file system, or one that knows no
	// RENAME_NOREPLACE (rename(2)): it will be so the next time too.
	sh.shut = sh.shut || errno == syscall.EXDEV || errno == syscall.EINVAL
}

// Leave leaves what is left to a later run, and ends the stock like Close.
// There must be no process any more that this stock's rules hold for: they
// would hold wherever the later run puts a folder.
func (s *Stock) Leave() { s.end((*shelf).leave) }

// Close removes what is left. No other call may follow, or be under way.
func (s *Stock) Close() { s.end((*shelf).remove) }

func (s *Stock) end(each func(*shelf)) {
	if s == nil {
		return
	}
	for _, sh := range s.shelves {
		each(sh)
	}
	closeFiles(s.files)
	s.shelves, s.files = nil, nil
}
