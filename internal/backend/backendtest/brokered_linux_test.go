// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestBrokeredCounted: the receipt tells how many calls were handed over, and
// who decided. What is made beside a blocked place the broker makes; what is
// made in a folder that has a rule is the kernel's.
func TestBrokeredCounted(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	w := newWorld(t)
	w.must(os.Mkdir(w.at("work/ruled"), 0o755))
	type counts struct{ Handed, Kernel, Answered int64 }
	count := func(folder string) counts {
		t.Helper()
		const script = `i=0; while [ $i -lt 50 ]; do : >%s/f$i; i=$((i+1)); done`
		receipt := w.at("outside/receipt")
		r := finish(t, w.sandbox(w.policyFlags("--block", w.at("work/closed"), "--receipt", receipt), "/bin/sh", "-c", fmt.Sprintf(script, folder)))
		if r.code != 0 {
			t.Fatalf("%+v", r)
		}
		b, err := os.ReadFile(receipt)
		w.must(err)
		var rec struct{ Brokered counts }
		w.must(json.Unmarshal(b, &rec))
		if c := rec.Brokered; c.Handed != c.Kernel+c.Answered {
			t.Errorf("%+v does not add up", c)
		}
		return rec.Brokered
	}
	if beside, ruled := count("."), count("ruled"); beside.Answered < ruled.Answered+50 || ruled.Kernel < beside.Kernel+50 {
		t.Errorf("beside a blocked place %+v, in a folder with a rule %+v", beside, ruled)
	}
}
