// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// identify returns what stands at a canonical name now; nothing is done with
// it, so the zero value for an error is as good as any inode without a rule.
func identify(name string) Inode {
	dev, ino, errno := sys.IdentityOf(name)
	if errno != 0 {
		return Inode{}
	}
	return Inode{dev, ino}
}

// list returns the names in a folder, none where it can't be listed.
func list(folder string) (names []string) {
	fd, errno := sys.OpenAt(sys.AtCWD, folder, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return nil
	}
	defer func() { _ = syscall.Close(fd) }()
	entries, err := sys.Entries(fd)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}
