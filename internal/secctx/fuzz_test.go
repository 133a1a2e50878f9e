// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// printableOnly fails on text that could reach a terminal.
func printableOnly(t *testing.T, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := printable(b); err != nil {
		t.Errorf("%v: %q", err, b)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("a\\\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		e := Escape(s)
		if Unescape(e) != s {
			t.Errorf("%q became %q", s, Unescape(e))
		}
		for _, r := range e {
			if !strconv.IsPrint(r) {
				t.Errorf("%q holds %q", e, r)
			}
		}
	})
}

func FuzzMountinfo(f *testing.F) {
	f.Add("22 1 254:0 /a\\040b / rw,relatime shared:1 - ext4 /dev/root rw\n")
	f.Fuzz(func(t *testing.T, s string) {
		mounts, _ := parseMountinfo(s)
		if len(mounts) > strings.Count(s, "\n")+1 {
			t.Errorf("%d mounts", len(mounts))
		}
		for _, m := range mounts {
			printableOnly(t, m.shown())
		}
	})
}

func FuzzACL(f *testing.F) {
	f.Add(aclOf([3]uint32{1, 6, 0}, [3]uint32{2, 6, 65534}))
	f.Fuzz(func(t *testing.T, b []byte) {
		acl, err := parseACL(b, (&names{}).inACL)
		if err == nil && len(acl) != (len(b)-4)/8 {
			t.Errorf("%d entries in %d bytes", len(acl), len(b))
		}
		_, _ = parseFileCaps(b)
	})
}

func FuzzMaps(f *testing.F) {
	f.Add("0 1000 1\n")
	f.Fuzz(func(t *testing.T, s string) {
		if maps, err := parseMap(s); err == nil {
			for _, m := range maps {
				if m.Count > 0 && !mapped(maps, m.Inside) {
					t.Errorf("%v does not map its first id", m)
				}
			}
		}
		_, _ = parseLimits(s)
		_, _ = parseStat(s)
		parseStatus(s)
		parseCgroup(s)
		parseUnixTable(s)
		parseInetTable(s)
		printableOnly(t, parseNames(s))
		printableOnly(t, argumentsOf(s))
		printableOnly(t, environmentOf(strings.Split(s, "\x00"), "salt"))
	})
}

// FuzzDiff: a file that was made up is refused or compared, and what comes out
// can be shown.
func FuzzDiff(f *testing.F) {
	b, err := json.Marshal(recorded())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema":1,"paths":[{"asked":"/","components":[{"name":"/"}]}],"cgroup":{"levels":[{"values":{"pids.max":""}}]},"environment":{},"mounts":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Decode(bytes.NewReader(b))
		if err != nil {
			return
		}
		printableOnly(t, Diff(recorded(), c))
		printableOnly(t, Diff(c, recorded()))
		if found := Diff(c, c).Findings; len(found) > 0 {
			t.Errorf("a context differs from itself: %+v", found)
		}
	})
}
