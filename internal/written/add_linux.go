// SPDX-License-Identifier: Apache-2.0

package written

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Add records what a run is about to let its command write: places, without
// the names of kept, which it keeps closed. writes reports whether the command
// can write at a canonical name. It does nothing where all of it is on record
// already, and where the host keeps no record.
//
// An error means that the run must not start: a later one would trust what it
// should doubt.
func (r *Record) Add(places, kept []string, writes func(name string) bool) error {
	if !r.Known() || len(r.missing(places, kept, writes)) == 0 {
		return nil
	}
	if err := r.update(func(now *Record) []byte { return now.missing(places, kept, writes) }); err != nil {
		return fmt.Errorf("cannot record in %s which places the command may write: %w; make room there, or set XDG_STATE_HOME to another directory", r.dir, err)
	}
	return nil
}

// missing returns the entries that the record lacks.
func (r *Record) missing(places, kept []string, writes func(name string) bool) []byte {
	var names, fresh []byte
	for name := range r.kept {
		if writes(name) {
			names = entry(names, kindLifted, name)
		}
	}
	for _, p := range places {
		if _, known := r.Covers(p); known {
			continue
		}
		fresh = entry(fresh, kindOf(p), p)
		for _, name := range kept {
			// A name in another place on record is no secret to its commands.
			if _, known := r.Covers(name); !known && !r.kept[name] && within(name, p) && !writes(name) {
				names = entry(names, kindKept, name)
			}
		}
	}
	return append(names, fresh...)
}

// kindOf returns the kind of an entry for a place.
func kindOf(place string) byte {
	if stands(place) {
		return kindPlace
	}
	return kindFresh
}

func entry(to []byte, kind byte, name string) []byte {
	return append(append(append(to, kind), name...), 0)
}

// update appends what change says that the record lacks. Runs that start at
// once take turns.
func (r *Record) update(change func(now *Record) []byte) error {
	name := path.Join(r.dir, fileName)
	for range 100 { // each time another run has put a shorter file in place
		f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			return err
		}
		done, err := r.appendTo(f, change)
		_ = f.Close() // and with it goes the lock
		if done || err != nil {
			return err
		}
	}
	return errors.New("other runs keep replacing it")
}

// appendTo appends under the file's lock, if the file still has its name.
func (r *Record) appendTo(f *os.File, change func(now *Record) []byte) (done bool, err error) {
	if err := lock(f); err != nil {
		return false, err
	}
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	if named, err := os.Lstat(f.Name()); err != nil || !os.SameFile(st, named) {
		return false, nil
	}
	if st.Size() > maxRecord {
		return false, shorten(f, f.Name()) // and once more, with the new file
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, st.Size()))
	if err != nil {
		return false, err
	}
	now := newRecord()
	now.dir = r.dir
	now.parse(b)
	*r = *now
	n, err := f.Write(change(now))
	if err != nil && n > 0 {
		_ = f.Truncate(st.Size())
	}
	return err == nil, err
}

// maxLock bounds the wait for another run, which holds the lock for the time
// of one write.
const maxLock = 10 * time.Second

func lock(f *os.File) error {
	for end := time.Now().Add(maxLock); ; time.Sleep(time.Millisecond) {
		errno := sys.TryLock(int(f.Fd()))
		switch {
		case errno == 0:
			return nil
		case errno != syscall.EWOULDBLOCK:
			return errno
		case time.Now().After(end):
			return errors.New("another process keeps it locked")
		}
	}
}
