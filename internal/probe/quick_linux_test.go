// SPDX-License-Identifier: Apache-2.0

package probe

import "testing"

func BenchmarkQuick(b *testing.B) {
	for b.Loop() {
		if _, err := Quick(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestQuickPrint(t *testing.T) {
	f, err := Quick()
	t.Logf("%+v %v", f, err)
}
