// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// ErrSpelling: a name is not the one that its folder lists.
var ErrSpelling = errors.New("its folder lists it by another name, and its file system finds it by several; write it as ls(1) shows it")

// Spelled makes sure that what stands at a canonical name, if anything does, is
// listed by it. File systems that find an object by other names too say of it
// the name that was asked for, so that the rest of the plan would speak of
// something else. Where no other name could be meant the folder is not listed.
func (r *Resolver) Spelled(name string) error {
	dir, base := path.Split(name)
	if base == "" {
		return nil
	}
	var st, other syscall.Stat_t
	if sys.LstatAt(sys.AtCWD, name, &st) != nil {
		return nil
	}
	if !plan.Strange(base) && plan.Fold(base) == strings.ToLower(base) {
		swapped := plan.OtherCase(base)
		if swapped == base || sys.LstatAt(sys.AtCWD, dir+swapped, &other) != nil || other.Dev != st.Dev || other.Ino != st.Ino {
			return nil
		}
	}
	if err := lists(dir, base); err != nil {
		return fmt.Errorf("cannot use %q: %w", name, err)
	}
	return nil
}

// lists makes sure that a folder lists a name.
func lists(dir, name string) error {
	fd, errno := sys.OpenAt(sys.AtCWD, dir, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if errno != 0 {
		return fmt.Errorf("cannot list %q: %w", dir, errno)
	}
	defer func() { _ = syscall.Close(fd) }()
	entries, err := sys.Entries(fd)
	if err != nil {
		return fmt.Errorf("cannot list %q: %w", dir, err)
	}
	for _, e := range entries {
		if e.Name == name {
			return nil
		}
	}
	return ErrSpelling
}
