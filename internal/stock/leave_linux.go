// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"strconv"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxLeft bounds how many folders are left in a place for later runs.
const maxLeft = 4

// freePrefix begins the name of a folder that a run has left for others. A
// folder without it belongs to a run that is under way, or was killed.
const freePrefix = "free-"

// leave gives the run's folder, with what was not used of it, to whoever comes
// next, or removes it where enough are left already.
func (sh *shelf) leave() {
	sh.release()
	_, err := sh.place.Seek(0, 0)
	names, _ := sh.place.Readdirnames(maxLeft + 1)
	if err == nil && len(names) <= maxLeft {
		_, left := renamed(sh.place, sh.dir, sh.name, freePrefix)
		if left {
			_ = sh.dir.Close()
			_ = sh.place.Close()
			return
		}
	}
	sh.remove()
}

// renamed gives a locked folder in a place a new random name, which no command
// can have been told, and reports whether it has got it.
func renamed(place, dir *os.File, name, prefix string) (string, bool) {
	random, err := sys.RandomName()
	if err != nil {
		return "", false
	}
	random = prefix + random
	at := int(place.Fd())
	var st syscall.Stat_t
	return random, sys.Rename(at, name, at, random, sys.RenameNoReplace) == 0 &&
		syscall.Fstat(int(dir.Fd()), &st) == nil && identityIn(at, random) == st.Ino
}

// takeOver makes a locked folder that a run has left this run's own. It
// returns nil, and leaves the folder alone, where anything in it is not as it
// was made.
func takeOver(n int, place, dir *os.File, name string, dev uint64) *shelf {
	sh := &shelf{place: place, dev: dev, dir: dir}
	names, _ := dir.Readdirnames(n + 1)
	for _, in := range names {
		if i, err := strconv.Atoi(in); err != nil || i < 0 || i >= n || strconv.Itoa(i) != in || !sh.reuse(in) {
			sh.release()
			return nil
		}
	}
	own, ok := renamed(place, dir, name, "")
	if !ok {
		sh.release()
		return nil
	}
	sh.name = own
	return sh
}

// reuse puts a folder that was left in store again, if it is as mkdir(2) would
// make it now: private, empty, without flags, permissions and attributes.
func (sh *shelf) reuse(name string) bool {
	fd, errno := sys.OpenAt(int(sh.dir.Fd()), name, openFolder, 0)
	if errno != 0 {
		return false
	}
	var st syscall.Stat_t
	flags, errno := sys.InodeFlags(fd)
	label, plain := plainLabel(fd)
	if errno != 0 || flags&^unmeant != 0 || !plain || syscall.Fstat(fd, &st) != nil ||
		!private(&st, sh.dev) || int(st.Gid) != os.Getegid() || !sys.IsEmptyFolder(fd) ||
		len(sh.folders) > 0 && label != sh.label {
		_ = syscall.Close(fd)
		return false
	}
	sh.gid, sh.label = st.Gid, label
	sh.folders = append(sh.folders, folder{name: name, ino: st.Ino, fd: fd})
	return true
}
