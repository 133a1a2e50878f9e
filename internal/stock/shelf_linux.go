// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"strconv"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// shelf is what is in store on one file system.
type shelf struct {
	place *os.File
	dev   uint64
	name  string // of the run's own folder in the place
	// dir is that folder. It is locked: whoever gets the lock may have it.
	dir     *os.File
	folders []folder
	gid     uint32
	label   string // see labelOf
	// shut: nothing can be moved from here to where it is wanted.
	shut bool
}

// attempts bounds how often a place is opened anew because another run, which
// thought it empty, has just removed it.
const attempts = 4

// newShelf returns nil where no stock can be kept.
func newShelf(n int, name string, dev uint64, closed func(string) bool) *shelf {
	for range attempts {
		place := openPlace(name, dev, closed)
		if place == nil {
			return nil
		}
		sh := sweep(n, place, dev)
		errno := syscall.Errno(0)
		if sh == nil {
			sh, errno = ownFolder(place, dev)
		}
		if errno == 0 {
			if sh.fill(n) {
				return sh
			}
			sh.remove()
			return nil
		}
		_ = place.Close()
		if errno != syscall.ENOENT && errno != syscall.EWOULDBLOCK {
			return nil
		}
	}
	return nil
}

// ownFolder makes and locks this run's folder in a place. ENOENT: the place,
// or the folder before it could be locked, has been removed.
func ownFolder(place *os.File, dev uint64) (*shelf, syscall.Errno) {
	name, err := sys.RandomName()
	if err != nil {
		return nil, syscall.EIO
	}
	if errno := sys.MakeFolder(int(place.Fd()), name, 0o700); errno != 0 {
		return nil, errno
	}
	dir, errno := lockFolder(place, name, dev)
	if errno != 0 {
		return nil, errno
	}
	return &shelf{place: place, dev: dev, name: name, dir: dir}, 0
}

// lockFolder opens and locks a folder in a place that is as a run makes it.
// ENOENT: somebody has removed it.
func lockFolder(place *os.File, name string, dev uint64) (*os.File, syscall.Errno) {
	fd, errno := sys.OpenAt(int(place.Fd()), name, openFolder, 0)
	if errno != 0 {
		return nil, errno
	}
	var st syscall.Stat_t
	if errno = sys.TryLock(fd); errno == 0 {
		switch err := syscall.Fstat(fd, &st); {
		case err != nil || st.Nlink == 0:
			errno = syscall.ENOENT
		case !private(&st, dev):
			errno = syscall.EPERM
		}
	}
	if errno != 0 {
		_ = syscall.Close(fd)
		return nil, errno
	}
	return os.NewFile(uintptr(fd), name), 0
}

// openFolder are the flags to open a folder of a run's, and those in it: a
// look at one is no use of it (O_NOATIME, which only its owner may say).
const openFolder = syscall.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW | syscall.O_NOATIME

// private reports whether a folder is this user's alone, and on the right file
// system.
func private(st *syscall.Stat_t, dev uint64) bool {
	return int(st.Uid) == os.Geteuid() && st.Mode&0o777 == 0o700 && uint64(st.Dev) == dev
}

// fill makes the folders that are missing, and reports whether they are as
// mkdir(2) would make them elsewhere.
func (sh *shelf) fill(n int) bool {
	found := map[string]bool{}
	for _, f := range sh.folders {
		found[f.name] = true
	}
	for i := range n {
		if name := strconv.Itoa(i); !found[name] && !sh.make(name) {
			return false
		}
	}
	flags, errno := sys.InodeFlags(int(sh.dir.Fd()))
	return errno == 0 && flags&^unmeant == 0 && int(sh.gid) == os.Getegid()
}

func (sh *shelf) make(name string) bool {
	if sys.MakeFolder(int(sh.dir.Fd()), name, 0o700) != 0 {
		return false
	}
	fd, errno := sys.OpenAt(int(sh.dir.Fd()), name, sys.OpenPathOnly|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if errno != 0 {
		return false
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		_ = syscall.Close(fd)
		return false
	}
	if len(sh.folders) == 0 {
		sh.gid, sh.label = st.Gid, labelOf(fd)
	}
	sh.folders = append(sh.folders, folder{name: name, ino: st.Ino, fd: fd})
	return true
}

// pin opens a folder in store without access to what is in it.
func (sh *shelf) pin(f folder) (int, syscall.Errno) {
	fd, errno := sys.OpenAt(int(sh.dir.Fd()), f.name, sys.OpenPathOnly|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if errno != 0 {
		return -1, errno
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil || st.Ino != f.ino {
		_ = syscall.Close(fd)
		return -1, syscall.ESTALE
	}
	return fd, 0
}

// put gives a folder its mode and times and moves it to its place. The move
// is one step: until then nobody sees anything, and after it all is done.
func (sh *shelf) put(f folder, parent int, name string, mode uint32) syscall.Errno {
	fd, errno := sh.pin(f)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(fd) }()
	if errno := sys.ChangeMode(fd, mode); errno != 0 {
		return errno
	}
	if errno := sys.ChangeTimes(fd, nil); errno != 0 {
		return errno
	}
	return sys.Rename(int(sh.dir.Fd()), f.name, parent, name, sys.RenameNoReplace)
}

// release closes the folders that are open still.
func (sh *shelf) release() {
	for i := range sh.folders {
		sh.folders[i].close()
	}
}

func (sh *shelf) remove() {
	sh.release()
	empty(sh.dir)
	_ = sys.RemoveFolder(int(sh.place.Fd()), sh.name)
	_ = sh.dir.Close()
	// The last one removes the place, too. One that is in use is not empty.
	_ = os.Remove(sh.place.Name())
	_ = sh.place.Close()
}
