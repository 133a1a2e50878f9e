// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"bytes"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/redact"
)

// FuzzRedact: however a stream is cut, no value comes through, and what comes
// is what the whole text gives.
func FuzzRedact(f *testing.F) {
	f.Add([]byte("xaababyaab"), uint8(1))
	f.Add([]byte("aabaaababzz"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		r := redact.New(map[string]string{"L": "aabab", "S": "aab", "O": "zz"})
		var b bytes.Buffer
		w := r.Writer(&b)
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1+int(size%8))
			_, _ = w.Write(rest[:n])
			rest = rest[n:]
		}
		_ = w.Close()
		if b.String() != r.Text(string(text)) {
			t.Fatalf("%q in pieces gives %q, whole %q", text, b.String(), r.Text(string(text)))
		}
		shown := bytes.Split(b.Bytes(), []byte("[secret "))
		for _, s := range shown {
			if bytes.Contains(s, []byte("aab")) || bytes.Contains(s, []byte("zz")) {
				t.Fatalf("%q comes through as %q", text, b.String())
			}
		}
	})
}
