// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ambit-sandbox/ambit/denial"
)

const (
	// maxDenials bounds what a command can make the broker remember: names
	// are at most PATH_MAX each, so this is 2 MiB in the worst case.
	maxDenials = 256
	maxFaults  = 8
)

// recorder keeps the first denials and faults, and counts the rest.
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
	if len(r.kept) == maxDenials {
		r.dropped++
		return
	}
	r.kept = append(r.kept, d)
}

// full reports whether what is added from now on is only counted.
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
