// SPDX-License-Identifier: Apache-2.0

package sha256

import (
	standard "crypto/sha256"
	"testing"
)

// Every length around the block's, where padding can go wrong, and a long one.
func TestSHA256(t *testing.T) {
	data := make([]byte, 5000)
	for i := range data {
		data[i] = byte(i * 7)
	}
	for n := range 300 {
		if got, want := Sum(data[:n]), standard.Sum256(data[:n]); got != want {
			t.Fatalf("sha256 of %d bytes: got %x, want %x", n, got, want)
		}
	}
	if got, want := Sum(data), standard.Sum256(data); got != want {
		t.Errorf("sha256 of %d bytes: got %x, want %x", len(data), got, want)
	}
}
