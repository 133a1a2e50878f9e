// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ambit-sandbox/ambit/denial"
)

const (
	// maxDenials bounds what a command can make the broker remember: names
	// are at most PATH_MAX each, so this is 2 MiB in the worst case.
	maxDenials = 256
	maxFaults  = 8
)

// recorder keeps the first denials and faults, and counts the rest. Equal
// denials count in one, so that a loop can't fill the list; it stands where the
// last of them came.
type recorder struct {
	mu            sync.Mutex
	kept          []denial.Denial
	dropped       int
	errs          []error
	droppedFaults int
}

func (r *recorder) add(d denial.Denial) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.kept, func(old denial.Denial) bool { return old.Same(&d) }); i >= 0 {
		d.Count = r.kept[i].Calls() + 1
		if d.Process == 0 { // nobody looked, since the list was full
			d.Process, d.Program = r.kept[i].Process, r.kept[i].Program
		}
		r.kept = slices.Delete(r.kept, i, i+1)
	}
	if len(r.kept) == maxDenials {
		r.dropped++
		return
	}
	r.kept = append(r.kept, d)
}

// full reports whether new denials are only counted from now on.
func (r *recorder) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.kept) == maxDenials
}

func (r *recorder) denials() ([]denial.Denial, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]denial.Denial(nil), r.kept...), r.dropped
}

// fault notes an error of the broker itself.
func (r *recorder) fault(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.errs) == maxFaults {
		r.droppedFaults++
		return
	}
	r.errs = append(r.errs, err)
}

func (r *recorder) faults() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	errs := r.errs
	if r.droppedFaults > 0 {
		errs = append(errs[:len(errs):len(errs)], fmt.Errorf("%d more faults", r.droppedFaults))
	}
	return errors.Join(errs...)
}
