// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"path"
	"strconv"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Places are those for a user with this home folder, folder for state
// (XDG_STATE_HOME) and folder for temporary files, any of which may be empty.
// A place is a folder of this user's alone, in which each run that keeps a
// stock there has a folder of its own.
func Places(home, state, tmp string) []string {
	var places []string
	switch {
	case path.IsAbs(state):
		places = append(places, path.Join(state, "ambit/stock"))
	case path.IsAbs(home):
		places = append(places, path.Join(home, ".local/state/ambit/stock"))
	}
	if path.IsAbs(tmp) {
		places = append(places, path.Join(tmp, "ambit-stock-"+strconv.Itoa(os.Geteuid())))
	}
	return places
}

// openPlace makes a place if need be and opens it. It returns nil where it is
// on another file system, is not this user's alone, or lies where the command
// has access.
func openPlace(name string, dev uint64, closed func(string) bool) *os.File {
	if makePlace(name, dev) != nil {
		return nil
	}
	fd, errno := sys.OpenAt(sys.AtCWD, name, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if errno != 0 {
		return nil
	}
	f := os.NewFile(uintptr(fd), name)
	var st syscall.Stat_t
	real, errno := sys.ReadLinkAt(sys.AtCWD, sys.FDPath(fd))
	if errno != 0 || !closed(real) || syscall.Fstat(fd, &st) != nil || uint64(st.Dev) != dev ||
		int(st.Uid) != os.Geteuid() || st.Mode&0o77 != 0 {
		_ = f.Close()
		return nil
	}
	return f
}

// makePlace makes what is missing of a place, for this user alone, if that
// comes to lie on the file system dev.
func makePlace(name string, dev uint64) error {
	var st syscall.Stat_t
	err := syscall.Stat(name, &st)
	switch {
	case err == nil && uint64(st.Dev) != dev:
		return syscall.EXDEV
	case err == nil || err != syscall.ENOENT || len(name) <= 1:
		return err
	}
	if err := makePlace(path.Dir(name), dev); err != nil {
		return err
	}
	if err := sys.MkdirPrivate(name); !os.IsExist(err) {
		return err
	}
	return nil
}
