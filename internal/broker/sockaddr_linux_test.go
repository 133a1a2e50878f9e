// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"testing"
)

func TestParseUnix(t *testing.T) {
	long := strings.Repeat("x", sockaddrUn-sunPath)
	for _, c := range []struct {
		addr []byte
		want unixAddress
	}{
		{nil, unixAddress{kind: malformed}},
		{[]byte{1}, unixAddress{kind: malformed}},
		{[]byte{1, 0}, unixAddress{kind: malformed}},
		{[]byte{0, 0}, unixAddress{kind: otherFamily}},
		{[]byte{2, 0, 1, 2}, unixAddress{kind: otherFamily}},
		{[]byte("\x01\x00a"), unixAddress{pathname, "a"}},
		{[]byte("\x01\x00a\x00b"), unixAddress{pathname, "a"}},
		{[]byte("\x01\x00/a b"), unixAddress{pathname, "/a b"}},
		{[]byte("\x01\x00\x00"), unixAddress{abstract, "@"}},
		{[]byte("\x01\x00\x00a\x00b"), unixAddress{abstract, "@a\x00b"}},
		{[]byte("\x01\x00" + long), unixAddress{pathname, long}},
		{[]byte("\x01\x00" + long + "x"), unixAddress{kind: malformed}},
		{unixPath("/x"), unixAddress{pathname, "/x"}},
	} {
		if got := parseUnix(c.addr); got != c.want {
			t.Errorf("%q: %+v, not %+v", c.addr, got, c.want)
		}
	}
}

func TestProcOwner(t *testing.T) {
	for _, c := range []struct {
		name string
		tid  int
		dir  string
	}{
		{"/proc/12", 12, ""}, {"/proc/12/fd", 12, "fd"}, {"/proc/12/task/13", 13, ""}, {"/proc/12/task/13/fd", 13, "fd"},
		{"/mnt/p/7/ns", 7, "ns"}, {"/proc", 0, ""}, {"/proc/sys/fs", 0, ""}, {"proc", 0, ""}, {"", 0, ""}, {"/", 0, ""},
		{"/proc/12/task", 12, "task"},
	} {
		if tid, dir := procOwner(c.name); tid != c.tid || dir != c.dir {
			t.Errorf("%s: %d, %q", c.name, tid, dir)
		}
	}
}
