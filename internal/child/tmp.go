// SPDX-License-Identifier: Apache-2.0

package child

import (
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTmp removes a private temporary folder. Folders that the command made
// read-only (a Go module cache is) are opened first. Nothing else may work in
// it any more: the tree has ended. os.RemoveAll and the walk below do not
// follow links out of it.
func RemoveTmp(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
