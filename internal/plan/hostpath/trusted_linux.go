// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"os"
	"path"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Modes says what the policy of the run grants at a canonical path.
type Modes func(name string) plan.Mode

// Nothing is the mode of everything where no policy is known.
func Nothing(string) plan.Mode { return plan.None }

// OpenRead opens a file for reading, with flags of open(2), by a name that a
// command could have led elsewhere. Where a doubtful link is on the way, the
// policy must grant reading the file anyway; the error is a *[LinkError]
// otherwise.
func (r *Resolver) OpenRead(name string, flags int, modes Modes) (*os.File, error) {
	fd, err := r.pinTrusted(name, plan.Read, modes)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(fd) }()
	// By descriptor: the name is not looked up again.
	again, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(fd), syscall.O_RDONLY|syscall.O_NOCTTY|flags, 0)
	if errno != 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: errno}
	}
	return os.NewFile(uintptr(again), name), nil
}

// Create opens a file for writing, and makes it if it is missing, in a
// directory whose name a command could have led elsewhere. The last component
// may be no symbolic link. Where a doubtful link is on the way, the policy
// must grant writing there anyway; the error is a *[LinkError] otherwise.
func (r *Resolver) Create(name string, perm uint32, modes Modes) (*os.File, error) {
	dir, err := r.pinTrusted(path.Dir(name), plan.Write, modes)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(dir) }()
	flags := syscall.O_WRONLY | syscall.O_CREAT | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY
	fd, errno := sys.OpenAt(dir, path.Base(name), flags, perm)
	if errno != 0 {
		return nil, &os.PathError{Op: "open", Path: name, Err: errno}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// pinTrusted pins what a name leads to.
func (r *Resolver) pinTrusted(name string, least plan.Mode, modes Modes) (int, error) {
	fd, obj, err := r.pin(name)
	if err != nil {
		return -1, err
	}
	for _, l := range obj.Links {
		if (l.Doubtful || modes(l.Path) == plan.Write) && modes(obj.Path) < least {
			_ = syscall.Close(fd)
			return -1, &LinkError{Name: name, Link: l.Path}
		}
	}
	return fd, nil
}

// pin resolves a name to an object that exists, and pins it.
func (r *Resolver) pin(name string) (int, plan.Object, error) {
	w, err := r.begin(name)
	if err != nil {
		return -1, plan.Object{}, err
	}
	if len(w.links) == 0 && w.missing == "" {
		return w.at, plan.Object{Exists: true}, nil // nothing to judge it by
	}
	obj, err := w.object()
	if errors.Is(err, syscall.ESTALE) { // a pipe of the shell's, by /dev/fd
		return w.at, plan.Object{Exists: true, Links: w.links}, nil
	}
	if err == nil && !obj.Exists {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	if err != nil {
		w.close()
		return -1, plan.Object{}, err
	}
	return w.at, obj, nil
}
