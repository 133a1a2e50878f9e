// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// errCalledOff: whoever wanted the copy does not any more.
var errCalledOff = errors.New("nobody waits for it any more")

// become makes a file in store a copy of an open one that can't change
// meanwhile: content, attributes, owner, mode and times.
func (f file) become(from int, still func() bool) error {
	var st syscall.Stat_t
	if err := syscall.Fstat(from, &st); err != nil {
		return err
	}
	if !fitting(&st) {
		return errors.New("it has several names or another owner")
	}
	if err := f.copyContent(from, st.Size, still); err != nil {
		return err
	}
	if err := f.copyAttributes(from); err != nil {
		return err
	}
	if errno := sys.ChangeOwner(f.fd, ^uint32(0), st.Gid); errno != 0 {
		return fmt.Errorf("its copy cannot have its group: %w", errno)
	}
	if errno := sys.ChangeMode(f.fd, st.Mode&0o7777); errno != 0 {
		return fmt.Errorf("its copy cannot have its mode: %w", errno)
	}
	times := sys.Times{{Sec: st.Atim.Sec, Nsec: st.Atim.Nsec}, {Sec: st.Mtim.Sec, Nsec: st.Mtim.Nsec}}
	if errno := sys.ChangeTimes(f.fd, &times); errno != 0 {
		return fmt.Errorf("its copy cannot have its times: %w", errno)
	}
	var now syscall.Stat_t
	if err := syscall.Fstat(f.fd, &now); err != nil || now.Mode != st.Mode || now.Gid != st.Gid || now.Size != st.Size {
		return errors.New("its copy is not like it") // chmod(2) drops bits without a word
	}
	return f.sameFlags(from)
}

func (f file) copyContent(from int, size int64, still func() bool) error {
	var done int64
	for {
		n, errno := sys.CopyPart(from, f.fd)
		switch {
		case errno != 0:
			return fmt.Errorf("it cannot be copied: %w", errno)
		case n == 0 && done == size:
			return nil
		case n == 0:
			return errors.New("it changed while it was copied")
		case !still():
			return errCalledOff
		}
		done += int64(n)
	}
}

// maxAttributes bounds the names, and each value, that are copied.
const maxAttributes = 64 << 10

// copyAttributes gives the copy the attributes of the original, and none that
// it does not have.
func (f file) copyAttributes(from int) error {
	theirs, err := attributesOf(from)
	if err != nil {
		return err
	}
	own, err := attributesOf(f.fd)
	if err != nil {
		return err
	}
	for name := range own {
		if _, found := theirs[name]; !found {
			if errno := sys.RemoveAttribute(f.fd, name); errno != 0 {
				return fmt.Errorf("its copy cannot be without the attribute %s: %w", name, errno)
			}
		}
	}
	for name, value := range theirs {
		if have, found := own[name]; found && bytes.Equal(have, value) {
			continue
		}
		if errno := sys.SetAttribute(f.fd, name, value, 0); errno != 0 {
			return fmt.Errorf("its copy cannot have the attribute %s: %w", name, errno)
		}
	}
	return nil
}

func attributesOf(fd int) (map[string][]byte, error) {
	names := make([]byte, maxAttributes)
	n, errno := sys.ListAttributes(fd, names)
	if errno == syscall.EOPNOTSUPP {
		return nil, nil
	}
	if errno != 0 {
		return nil, fmt.Errorf("its attributes cannot be listed: %w", errno)
	}
	found := map[string][]byte{}
	for name := range strings.SplitSeq(string(names[:n]), "\x00") {
		if name == "" {
			continue
		}
		value := make([]byte, maxAttributes)
		n, errno := sys.ReadAttribute(fd, name, value)
		if errno != 0 {
			return nil, fmt.Errorf("its attribute %s cannot be read: %w", name, errno)
		}
		found[name] = value[:n]
	}
	return found, nil
}

// sameFlags makes sure that the original has no flags which the copy lacks.
func (f file) sameFlags(from int) error {
	a, errno := sys.InodeFlags(from)
	if errno == 0 {
		var b uint32
		if b, errno = sys.InodeFlags(f.fd); errno == 0 && a&^unmeant == b&^unmeant {
			return nil
		}
	}
	return errors.New("its copy cannot have its flags")
}
