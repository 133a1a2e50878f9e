// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

// TestDenialNamesItsCaller: a record says which process was refused, what it
// calls itself, and when.
func TestDenialNamesItsCaller(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	w := newWorld(t)
	w.write("read/file", "text")
	w.write("read/other", "text")
	receipt := w.at("outside/receipt")
	script := `chmod 700 ../read/file; chmod 700 ../read/other; touch -c ../read/file; exit 1`
	r := finish(t, w.sandbox(w.policyFlags("--receipt", receipt), "/bin/sh", "-c", script))
	b, err := os.ReadFile(receipt)
	w.must(err)
	var rec struct {
		Denials   []denial.Denial
		Durations struct {
			Run float64 `json:"run_ms"`
		}
	}
	w.must(json.Unmarshal(b, &rec))
	seen, last := map[int]string{}, 0.0
	for _, d := range rec.Denials {
		if d.Process == 0 || d.At < last {
			t.Errorf("%+v", d)
		}
		seen[d.Process], last = d.Program, d.At
	}
	count := map[string]int{}
	for _, program := range seen {
		count[program]++
	}
	if count["chmod"] != 2 || count["touch"] != 1 {
		t.Errorf("%v\n%+v", seen, r)
	}
	if last > rec.Durations.Run+1000 {
		t.Errorf("refused at %v ms of %v", last, rec.Durations.Run)
	}
}
