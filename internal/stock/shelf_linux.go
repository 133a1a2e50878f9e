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
	name  string // of the run's own folder in the place
	// dir is that folder. It is locked: whoever gets the lock may remove it.
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
		sweep(place)
		sh, errno := ownFolder(place)
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
func ownFolder(place *os.File) (*shelf, syscall.Errno) {
	name, err := sys.RandomName()
	if err != nil {
		return nil, syscall.EIO
	}
	if errno := sys.MakeFolder(int(place.Fd()), name, 0o700); errno != 0 {
		return nil, errno
	}
	fd, errno := lockFolder(place, name)
	if errno != 0 {
		return nil, errno
	}
	return &shelf{place: place, name: name, dir: os.NewFile(uintptr(fd), name)}, 0
}

// lockFolder opens and locks a folder in a place. ENOENT: somebody has removed
// it.
func lockFolder(place *os.File, name string) (int, syscall.Errno) {
	fd, errno := sys.OpenAt(int(place.Fd()), name, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errno != 0 {
		return -1, errno
	}
	var st syscall.Stat_t
	if errno = sys.TryLock(fd); errno == 0 && (syscall.Fstat(fd, &st) != nil || st.Nlink == 0) {
		errno = syscall.ENOENT
	}
	if errno != 0 {
		_ = syscall.Close(fd)
		return -1, errno
	}
	return fd, 0
}

// fill makes the folders, and reports whether they are as mkdir(2) would make
// them elsewhere.
func (sh *shelf) fill(n int) bool {
	for i := range n {
		f := folder{name: strconv.Itoa(i)}
		if sys.MakeFolder(int(sh.dir.Fd()), f.name, 0o700) != 0 {
			return false
		}
		fd, errno := sys.OpenAt(int(sh.dir.Fd()), f.name, sys.OpenPathOnly|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
		if errno != 0 {
			return false
		}
		var st syscall.Stat_t
		err := syscall.Fstat(fd, &st)
		if i == 0 {
			sh.gid, sh.label = st.Gid, labelOf(fd)
		}
		_ = syscall.Close(fd)
		if err != nil {
			return false
		}
		f.ino = st.Ino
		sh.folders = append(sh.folders, f)
	}
	flags, errno := sys.InodeFlags(int(sh.dir.Fd()))
	return errno == 0 && flags&^unmeant == 0 && int(sh.gid) == os.Getegid()
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

func (sh *shelf) remove() {
	empty(sh.dir)
	_ = sys.RemoveFolder(int(sh.place.Fd()), sh.name)
	_ = sh.dir.Close()
	// The last one removes the place, too. One that is in use is not empty.
	_ = os.Remove(sh.place.Name())
	_ = sh.place.Close()
}
