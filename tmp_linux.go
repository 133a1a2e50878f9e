// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"errors"
	"fmt"
	"os"
	"path"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// tmpName chooses the name of the private temporary folder. It can't be
// guessed, so nobody else can be there first; mkdir fails if somebody is.
func (r *runner) tmpName() (string, error) {
	base := variable(r.environ, "TMPDIR")
	if !path.IsAbs(base) {
		base = "/tmp"
	}
	random, err := sys.RandomName()
	return path.Join(base, "ambit-"+random), err
}

// makeTmp makes the folder, for this user alone, if the policy wants it.
func (r *runner) makeTmp() error {
	if !r.resolved.PrivateTmp {
		return nil
	}
	err := os.Mkdir(r.resolved.TmpDir, 0o700)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("cannot make the private temporary folder; set TMPDIR to a writable folder, or private_tmp to false: %w", err)
	}
	if err != nil {
		return fmt.Errorf("cannot make the private temporary folder: %w", err)
	}
	// A umask that takes the owner's own rights away must not make it unusable.
	if err := os.Chmod(r.resolved.TmpDir, 0o700); err != nil {
		return err
	}
	r.tmp = r.resolved.TmpDir
	return nil
}
