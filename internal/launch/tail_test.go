// SPDX-License-Identifier: Apache-2.0

package launch

import "testing"

func TestTail(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{nil, ""},
		{[]string{"a\n", "b"}, "a\nb"},
		{[]string{"12345678"}, "12345678"},
		{[]string{"123456789"}, ""},
		{[]string{"12345\n", "78\n"}, "78\n"},
		{[]string{"1", "2", "\n", "4\n", "6\n", "89"}, "4\n6\n89"},
		{[]string{"x", "the last\nline\n"}, "line\n"},
	} {
		l := tail{most: 8}
		for _, p := range c.pieces {
			l.add([]byte(p))
		}
		if got := l.lines(); got != c.want || len(l.kept) > l.most {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
}
