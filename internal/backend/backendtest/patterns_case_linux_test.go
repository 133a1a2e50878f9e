// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"testing"
)

// TestPatternOtherCase: a folder whose name a pattern would match in another
// case is open where case makes a difference, beside a closed place too.
func TestPatternOtherCase(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"work/A.LOCK", "work/b.lock", "work/secret"} {
		w.must(os.Mkdir(w.at(name), 0o755))
	}
	flags := []string{"--block", w.at("work/secret"), "--block-write", w.at("work/*.lock")}
	if w.refusesPatterns(flags) {
		return
	}
	w.tryAll(w.policyFlags(flags...), []attempt{
		{"put b.lock/f WRONLY|CREAT x", "EACCES", ""},
		{"put secret/f WRONLY|CREAT x", "EACCES", ""},
		{"put A.LOCK/f WRONLY|CREAT x", "OK", ""},
		{"mkdirat AT 'A.LOCK/d 0755", "OK", ""},
		{"get A.LOCK/f", "OK", "x"},
		{"unlinkat AT 'A.LOCK/f 0", "OK", ""},
	})
}
