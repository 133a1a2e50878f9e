// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"errors"
	"fmt"
	"os"
	"path"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// tmpName chooses the name of the private temporary folder. It can't be
// guessed, so nobody else can be there first; mkdir fails if somebody is.
func (r *runner) tmpName() (string, error) {
	random, err := sys.RandomName()
	return path.Join(r.tmpBase(), "ambit-"+random), err
}

// tmpBase is where the caller keeps temporary files.
func (r *runner) tmpBase() string {
	if base := variable(r.environ, "TMPDIR"); path.IsAbs(base) {
		return base
	}
	return "/tmp"
}

// makeTmp makes the folder, for this user alone, if the policy wants it.
func (r *runner) makeTmp() error {
	if !r.resolved.PrivateTmp {
		return nil
	}
	if err := r.names.trust("TMPDIR", r.tmpBase()); err != nil {
		return err
	}
	err := sys.MkdirPrivate(r.resolved.TmpDir)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("cannot make the private temporary folder; set TMPDIR to a writable folder, or private_tmp to false: %w", err)
	}
	if err != nil {
		return fmt.Errorf("cannot make the private temporary folder: %w", err)
	}
	// It is known by a descriptor from now on: its name may lie where the
	// command can write.
	fd, err := syscall.Open(r.resolved.TmpDir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot open the private temporary folder: %w", err)
	}
	r.tmp = os.NewFile(uintptr(fd), r.resolved.TmpDir)
	return nil
}

// removeTmp removes the folder, if the launcher did not run or could not.
func (r *runner) removeTmp() {
	r.launcher.Abort()
	if r.tmp == nil {
		return
	}
	if err := child.RemoveTmp(r.tmp, r.tmp.Name()); err != nil {
		r.receipt.TmpLeft = err.Error()
	}
	_ = r.tmp.Close()
	r.tmp = nil
}
