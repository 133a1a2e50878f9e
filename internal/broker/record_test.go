// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

func TestRecorderIsBounded(t *testing.T) {
	var r recorder
	const more = 10
	for i := range maxDenials + more {
		if r.full() != (i >= maxDenials) {
			t.Fatalf("full with %d: %v", i, r.full())
		}
		r.add(denial.Denial{PID: i})
	}
	list, dropped := r.denials()
	if len(list) != maxDenials || dropped != more {
		t.Errorf("%d kept, %d dropped", len(list), dropped)
	}
	if list[0].PID != 0 || list[maxDenials-1].PID != maxDenials-1 {
		t.Error("not the first ones were kept")
	}
	list[0].PID = -1
	if again, _ := r.denials(); again[0].PID != 0 {
		t.Error("the list is not a copy")
	}
	if r.faults() != nil {
		t.Errorf("faults: %v", r.faults())
	}
	one := errors.New("one")
	for range maxFaults + more {
		r.fault(one)
	}
	if err := r.faults(); !errors.Is(err, one) || strings.Count(err.Error(), "one") != maxFaults || !strings.Contains(err.Error(), "10 more") {
		t.Errorf("faults: %v", err)
	}
}
