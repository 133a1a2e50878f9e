// SPDX-License-Identifier: Apache-2.0

package words

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("to be or not to be"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"to": 2, "be": 2, "or": 1, "not": 1}
	if diff := cmp.Diff(want, Count(string(text))); diff != "" {
		t.Errorf("Count (-want +got):\n%s", diff)
	}
}
