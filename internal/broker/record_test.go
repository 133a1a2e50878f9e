// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/policy"
)

func TestRecorderIsBounded(t *testing.T) {
	var r recorder
	const more = 10
	for i := range maxDenials + more {
		if r.full() != (i >= maxDenials) {
			t.Fatalf("full with %d: %v", i, r.full())
		}
		r.add(denial.Denial{PID: i, Named: strconv.Itoa(i)})
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

// TestRecorderCounts: a loop is one denial, which stands where its last call
// came, and pushes no other one out.
func TestRecorderCounts(t *testing.T) {
	var r recorder
	rule := func(path string) *policy.PathRule { return &policy.PathRule{Path: path, Kind: policy.Blocked} }
	loop := denial.Denial{Call: "socket", Named: "AF_INET SOCK_STREAM socket", Errno: "EACCES", Rule: rule("/p")}
	r.add(denial.Denial{Call: "first", PID: 1})
	const many = 3 * maxDenials
	for i := range many {
		d := loop
		d.PID, d.Rule = i, rule("/p")
		r.add(d)
		if i == many/2 {
			r.add(denial.Denial{Call: "between"})
		}
	}
	list, dropped := r.denials()
	if dropped != 0 || len(list) != 3 || list[0].Call != "first" || list[1].Call != "between" || list[2].Count != many || list[2].PID != many-1 || denial.Total(list) != many+2 {
		t.Errorf("%d dropped: %+v", dropped, list)
	}
	for _, other := range []denial.Denial{
		{Call: "x", Named: loop.Named, Errno: loop.Errno, Rule: loop.Rule}, {Call: loop.Call, Named: "x", Errno: loop.Errno, Rule: loop.Rule},
		{Call: loop.Call, Named: loop.Named, Errno: "EPERM", Rule: loop.Rule}, {Call: loop.Call, Named: loop.Named, Errno: loop.Errno, Rule: rule("/q")},
		{Call: loop.Call, Named: loop.Named, Errno: loop.Errno}, {Call: loop.Call, Named: loop.Named, Errno: loop.Errno, Rule: loop.Rule, Reason: "x"},
		{Call: loop.Call, Named: loop.Named, Errno: loop.Errno, Rule: loop.Rule, Filter: "x"},
	} {
		before, _ := r.denials()
		r.add(other)
		if after, _ := r.denials(); len(after) != len(before)+1 {
			t.Errorf("%+v was counted as another one", other)
		}
	}
}
