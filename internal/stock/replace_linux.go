// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// ErrBusy: the file is open for writing.
var ErrBusy = errors.New("it is open for writing")

// ErrUsedUp: nothing is left in store.
var ErrUsedUp = errors.New("the stock of files that can be executed is used up, or could not be made")

// errSwapped: the name means another file now.
var errSwapped = errors.New("its name means another file by now")

// Replaced is a file that one in store is to take the place of.
type Replaced struct {
	// In is the folder and Name the name that it has there.
	In   Parent
	Name string
	// FD pins it, Stat describes it.
	FD   int
	Stat *syscall.Stat_t
	// Last is asked before the replacement; false calls it off.
	Last func() bool
}

// Replace puts a copy of a file, with all that belongs to it, in its place,
// which is one that has a rule. Nobody ever finds the name missing, or a part
// of the file. An error means that the file is still the old one.
//
// The file can't change meanwhile: it is leased. A lease is not given for a
// file that is open for writing, and whoever wants to write to it then waits
// until it is over, and if he has waited for the old file gets that one back
// (fcntl(2), "Leases").
func (s *Stock) Replace(r Replaced) error {
	if s == nil {
		return ErrUsedUp
	}
	if !fitting(r.Stat) {
		return errors.New("it has several names or another owner")
	}
	s.replacing.Lock()
	defer s.replacing.Unlock()
	if identityIn(r.In.FD, r.Name) != r.Stat.Ino {
		return errSwapped
	}
	from, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(r.FD), syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return fmt.Errorf("it cannot be read: %w", errno)
	}
	defer func() { _ = syscall.Close(from) }() // and with it goes the lease
	switch errno := sys.LeaseReading(from); errno {
	case 0:
	case syscall.EAGAIN:
		return ErrBusy
	default:
		return fmt.Errorf("it cannot be leased: %w", errno)
	}
	dev := uint64(r.Stat.Dev)
	f, ok := s.takeFile(dev)
	if !ok {
		return ErrUsedUp
	}
	if err := f.become(from, r.Last); err != nil {
		s.giveBackFile(dev, f)
		return err
	}
	return s.swap(r, dev, f, from)
}

// swap exchanges the names of the copy and the original, looks whether all was
// as it should be, and only then removes the original. Where it was not, the
// names are exchanged back.
func (s *Stock) swap(r Replaced, dev uint64, f file, from int) error {
	dir, name, errno := s.waiting(dev, f, r.In)
	if errno != 0 {
		s.giveBackFile(dev, f)
		return fmt.Errorf("its copy cannot be named: %w", errno)
	}
	_ = syscall.Close(f.fd) // what is open for writing can't be executed
	defer func() { _ = sys.Unlink(dir, name) }()
	if !r.Last() {
		return errCalledOff
	}
	if errno := sys.Rename(dir, name, r.In.FD, r.Name, sys.RenameExchange); errno != 0 {
		return fmt.Errorf("its copy cannot take its place: %w", errno)
	}
	out := identityIn(dir, name)
	if out == r.Stat.Ino && sys.LeasesReading(from) {
		return nil
	}
	err := errSwapped
	if out == r.Stat.Ino {
		err = ErrBusy
	}
	for range maxSwaps {
		if sys.Rename(dir, name, r.In.FD, r.Name, sys.RenameExchange) != 0 {
			break
		}
		// Was the copy there still? If not, somebody has put a third file over
		// it, which counts.
		got := identityIn(dir, name)
		if got == f.ino || got == out {
			break
		}
		out, f.ino = got, out
	}
	return err
}

// maxSwaps bounds how often names are exchanged with somebody who does so too.
const maxSwaps = 8
