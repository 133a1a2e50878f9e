// SPDX-License-Identifier: Apache-2.0

package written

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

const (
	fileName = "written"
	// maxRecord is the size in bytes above which places that exist no more
	// are dropped. It is some thousand places.
	maxRecord = 256 << 10
)

// Record is what was recorded when it was loaded. A nil record doubts nothing.
type Record struct {
	// dir is the directory of the record; "" where this host keeps none.
	dir    string
	places []string
	// fresh are those where nothing stood when they were recorded.
	fresh map[string]bool
	// kept are names below a place that no command could change since the
	// place is on record.
	kept map[string]bool
}

// Load reads the record in a directory. Where the host has no place for one,
// or it can't be read, the record is there but not [Record.Known].
func Load(dir string) *Record {
	r := newRecord()
	if dir == "" {
		return r
	}
	b, err := read(path.Join(dir, fileName))
	switch {
	case errors.Is(err, syscall.ENOENT) && makeDir(dir) == nil:
	case err != nil:
		return r
	}
	r.dir = dir
	r.parse(b)
	return r
}

func newRecord() *Record { return &Record{kept: map[string]bool{}, fresh: map[string]bool{}} }

// Known reports whether there is a record to ask.
func (r *Record) Known() bool { return r.dir != "" }

// read reads a record that is this user's alone.
func read(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o22 != 0 {
		return nil, fmt.Errorf("cannot use the record %s: it is not a file that only this user can write", name)
	}
	return io.ReadAll(f)
}

// makeDir makes the directory and what is missing on the way to it.
func makeDir(dir string) error {
	err := sys.MkdirPrivate(dir)
	if errors.Is(err, syscall.ENOENT) && len(dir) > 1 {
		if err = makeDir(path.Dir(dir)); err == nil {
			err = sys.MkdirPrivate(dir)
		}
	}
	if errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return err
}

// The record is a list of entries, each ended by a NUL byte, which no name
// holds: a kind and a canonical name.
const (
	kindPlace  = '+' // commands could write here and below
	kindFresh  = '*' // the same, where nothing stood: they could make it, too
	kindKept   = '=' // but not this name
	kindLifted = '-' // which has ended
)

func (r *Record) parse(b []byte) {
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if len(entry) < 2 {
			continue
		}
		name := string(entry[1:])
		switch entry[0] {
		case kindFresh:
			r.fresh[name] = true
			fallthrough
		case kindPlace:
			r.places = append(r.places, name)
		case kindKept:
			r.kept[name] = true
		case kindLifted:
			delete(r.kept, name)
		}
	}
}

// Covers reports whether a command of an earlier run could have made, removed
// or replaced what stands at a canonical name, and the place on record that
// the name lies in.
func (r *Record) Covers(name string) (place string, yes bool) {
	for at, more := name, true; more && len(r.kept) > 0; at, more = up(at) {
		if r.kept[at] {
			return "", false
		}
	}
	i := slices.IndexFunc(r.places, func(p string) bool { return within(name, p) })
	if i < 0 {
		return "", false
	}
	return r.places[i], true
}

func up(name string) (string, bool) {
	if name == "/" || name == "" {
		return "", false
	}
	return path.Dir(name), true
}
