// SPDX-License-Identifier: Apache-2.0

package backendtest

import "testing"

// TestWriteHints: no write hint is given to a file (fcntl(2), F_SET_RW_HINT),
// which a descriptor for reading would be enough for.
func TestWriteHints(t *testing.T) {
	w := newWorld(t)
	w.write("read/f", "content")
	file := "fcntl <" + w.at("read/f")
	get, set := file+" 1035 #8", file+" 1036 x:0200000000000000"
	if r := w.unconfined(words(set, w.dir))[0]; r.outcome != "OK" {
		t.Fatalf("without a sandbox: %v", r)
	}
	w.tryAll(w.policyFlags(), []attempt{
		{set, "EINVAL", ""},
		{get, "OK", "0"},
	})
}
