// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/policy"
)

// exchange moves a directory that has a rule to where a blocked one stands, as
// a process outside would.
func (p project) exchange(tb testing.TB, dir, blocked string) {
	tb.Helper()
	for _, f := range []string{"h", "k"} {
		if err := os.WriteFile(p.dir+"/"+dir+"/"+f, []byte(f), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.RemoveAll(p.dir + "/" + blocked); err != nil {
		tb.Fatal(err)
	}
	if err := os.Rename(p.dir+"/"+dir, p.dir+"/"+blocked); err != nil {
		tb.Fatal(err)
	}
}

// TestNestedExchanged: a directory with a rule that a process outside moves to
// a blocked name is closed under it, for every call.
func TestNestedExchanged(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		for _, dir := range []string{"nat", "made"} {
			t.Run(fmt.Sprintf("%s %s", kind, dir), func(t *testing.T) {
				p := makeProject(t)
				s, _ := startProject(t, p, kind)
				if dir == "made" {
					if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(dir), 0o755); o.Errno != 0 {
						t.Fatal(o)
					}
				}
				held := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(dir), oPath, 0)
				if held.Errno != 0 {
					t.Fatal(held)
				}
				p.exchange(t, dir, "git/hooks")
				for _, name := range []string{"git/hooks/", fmt.Sprintf("/proc/self/fd/%d/", held.Value)} {
					p.tryExchanged(t, s, name, kind)
				}
			})
		}
	}
}

// tryExchanged makes all calls below a blocked directory, and beside it.
func (p project) tryExchanged(t *testing.T, s *subject, blocked string, kind policy.Kind) {
	t.Helper()
	before := snapshot(t, p.dir+"/git/hooks")
	for _, c := range fileCallsToTry() {
		for _, dir := range []string{blocked, "data/"} {
			name, want := dir+"k", syscall.EACCES
			if c.makes {
				name = dir + "new"
			}
			if dir == "data/" {
				want = 0
				_ = os.Remove(p.dir + "/data/new")
				if err := os.WriteFile(p.dir+"/data/k", []byte("k"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if o := c.do(s, t, name); o.Errno != want {
				t.Errorf("%s %s: %v", c.name, name, o)
			}
		}
	}
	_ = os.RemoveAll(p.dir + "/data/new")
	for _, f := range []string{"k", "l"} {
		if err := os.WriteFile(p.dir+"/data/"+f, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	reading := syscall.Errno(0)
	if kind == policy.Blocked {
		reading = syscall.EACCES
	}
	openPath := func(name string, flags int) outcome {
		fd := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), oPath, 0)
		defer s.close(t, int(fd.Value))
		o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(fmt.Sprintf("/proc/self/fd/%d", fd.Value)), flags, 0)
		if o.Errno == 0 {
			s.close(t, int(o.Value))
		}
		return o
	}
	for _, c := range []struct {
		what    string
		o       outcome
		want    syscall.Errno
		control outcome
	}{
		{"read", s.opens(t, blocked+"k", os.O_RDONLY), reading, s.opens(t, "data/k", os.O_RDONLY)},
		{"read by its descriptor", openPath(blocked+"k", os.O_RDONLY), reading, openPath("data/k", os.O_RDONLY)},
		{"write by its descriptor", openPath(blocked+"k", os.O_WRONLY), syscall.EACCES, openPath("data/k", os.O_WRONLY)},
		{"O_TMPFILE", s.opens(t, strings.TrimSuffix(blocked, "/")+"/.", 0x400000|syscall.O_DIRECTORY|os.O_RDWR), syscall.EACCES,
			s.opens(t, "data/.", 0x400000|syscall.O_DIRECTORY|os.O_RDWR)},
		{"link out", s.link(t, blocked+"k", "out"), syscall.EACCES, s.link(t, "data/k", "out2")},
		{"link in", s.link(t, "natf", blocked+"in"), syscall.EACCES, s.link(t, "natf", "data/in")},
		{"rename in", s.rename(t, "data/l", blocked+"l", 0), syscall.EACCES, s.rename(t, "data/l", "data/l2", 0)},
		{"rename within", s.rename(t, blocked+"k", blocked+"l", 0), syscall.EACCES, s.rename(t, "data/l2", "data/l3", 0)},
		{"exchange", s.rename(t, blocked+"k", "data/l3", 2), syscall.EACCES, s.rename(t, "data/k", "data/l3", 2)},
		{"rename out", s.rename(t, blocked+"k", "out3", 0), syscall.EACCES, s.rename(t, "data/k", "out4", 0)},
		{"mkdir with a slash", s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(blocked+"d/"), 0o755), syscall.EACCES,
			s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("data/d/"), 0o755)},
		{"rmdir", s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str(blocked+"../hooks"), atRemoveDir), syscall.EACCES,
			s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("data/d/"), atRemoveDir)},
	} {
		if c.o.Errno != c.want || c.control.Errno != 0 {
			t.Errorf("%s%s: %v, and beside it %v", blocked, c.what, c.o, c.control)
		}
	}
	for _, name := range []string{"out2", "out4", "data/in", "data/l3"} {
		if err := os.Remove(p.dir + "/" + name); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, p.dir+"/git/hooks")); diff != "" {
		t.Error(diff)
	}
}

// opens opens and closes.
func (s *subject) opens(tb testing.TB, name string, flags int) outcome {
	tb.Helper()
	o := s.call(tb, syscall.SYS_OPENAT, atFDCWD, str(name), flags, 0o644)
	if o.Errno == 0 {
		s.close(tb, int(o.Value))
	}
	return o
}
