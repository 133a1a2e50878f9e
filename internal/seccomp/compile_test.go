// SPDX-License-Identifier: Apache-2.0

package seccomp

import "testing"

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := Compile("amd64", Config{Metadata: Notify, UnixConnect: Notify}); err != nil {
			b.Fatal(err)
		}
	}
}

