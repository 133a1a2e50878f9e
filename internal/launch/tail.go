// SPDX-License-Identifier: Apache-2.0

package launch

import "bytes"

// tail keeps the last bytes of a stream.
type tail struct {
	most int
	kept []byte
	cut  bool // something came before what is kept
}

func (t *tail) add(b []byte) {
	if over := len(b) - t.most; over > 0 {
		b, t.cut = b[over:], true
	}
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - t.most; over > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
}

// lines returns the whole lines of what is kept: of the first one the beginning
// may be missing.
func (t *tail) lines() string {
	b := t.kept
	if t.cut {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return string(b)
}
