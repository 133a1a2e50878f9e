// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// startProject runs a child in the project's folder.
func startProject(tb testing.TB, p project, kind policy.Kind) (*subject, *Broker) {
	tb.Helper()
	s, b := startNested(tb, hostTree(tb, p.rules(kind)...), "calls")
	if o := s.call(tb, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
		tb.Fatal(o)
	}
	return s, b
}

func (s *subject) rename(tb testing.TB, from, to string, flags int) outcome {
	tb.Helper()
	return s.call(tb, sysRenameat2, atFDCWD, str(from), atFDCWD, str(to), flags)
}

func (s *subject) link(tb testing.TB, from, to string) outcome {
	tb.Helper()
	return s.call(tb, syscall.SYS_LINKAT, atFDCWD, str(from), atFDCWD, str(to), 0)
}

// TestNestedRename: neither an exception nor a folder on the way to one can
// be moved, replaced or linked, and nothing can be moved to where one is
// awaited. Everything else can.
func TestNestedRename(t *testing.T) {
	p := makeProject(t)
	s, b := startProject(t, p, policy.BlockedWrite)
	for _, c := range []struct{ from, to string }{
		{"natf", "natf2"}, {"natf2", "nat/moved"}, {"nat/moved", "natf"}, // within, into and out of a native folder
		{"nat", "nat2"}, {"nat2", "a/nat"}, {"a/nat", "nat"}, {"a/f", "a/b/f"}, {"a/b/f", "a/f"},
		{"data", "nat/data"}, {"nat/data", "git/data"}, {"git/data", "data/"}, {"to-config", "link"}, {"link", "to-config"},
	} {
		if o := s.rename(t, c.from, c.to, 0); o.Errno != 0 {
			t.Errorf("%s to %s: %v", c.from, c.to, o)
		}
	}
	before := snapshot(t, p.base)
	list, _ := b.Denials()
	count := len(list)
	for _, c := range []struct {
		from, to string
		want     syscall.Errno
	}{
		{"git", "git2", syscall.EACCES}, {"git/hooks", "git/hooks2", syscall.EACCES}, {"git/config", "config", syscall.EACCES},
		{"a", "nat/a", syscall.EACCES}, {"a/b", "b", syscall.EACCES}, {"a/b/secret", "secret", syscall.EACCES},
		{"git/hooks/h", "h", syscall.EACCES}, {"natf", "git/hooks/h", syscall.EACCES}, {"natf", "git/hooks/new", syscall.EACCES},
		{"natf", "git/config", syscall.EACCES}, {"natf", "a/b/secret", syscall.EACCES}, {"natf", "missing", syscall.EACCES},
		{"nat", "x", syscall.EACCES}, {"data", "x", syscall.EACCES}, {"natf", "x", syscall.EACCES}, {"data", "git/hooks", syscall.EACCES},
		{"natf", "../r/natf", syscall.EACCES}, {"../r/f", "f", syscall.EACCES}, {"natf", "../none/natf", syscall.EACCES},
		{"nothing", "x", syscall.ENOENT}, {"nat/f", "git/config", syscall.EACCES}, {"../none/f", "git/config", syscall.EACCES},
	} {
		for _, flags := range []int{0, 2} {
			want := c.want
			if _, err := os.Lstat(p.dir + "/" + c.to); flags == 2 && err != nil {
				want = syscall.ENOENT
			}
			if o := s.rename(t, c.from, c.to, flags); o.Errno != want {
				t.Errorf("%s to %s, flags %d: %v, not %v", c.from, c.to, flags, o, sys.ErrnoName(want))
			}
		}
	}
	for _, c := range []struct{ from, to string }{
		{"git/config", "c"}, {"git/hooks/h", "h"}, {"a/b/secret", "s"}, {"natf", "missing"}, {"natf", "x"}, {"nat/f", "git/hooks/f"},
		{"../r/f", "f"}, {"natf", "../r/natf"}, {"../none/f", "f"}, {"git/config", "nat/c"}, {"/proc/self/cwd/git/config", "c"},
	} {
		if o := s.link(t, c.from, c.to); o.Errno != syscall.EACCES && o.Errno != syscall.EXDEV {
			t.Errorf("link %s as %s: %v", c.from, c.to, o)
		}
	}
	for _, name := range []string{"git", "git/hooks", "git/hooks/sub", "a/b", "a", "git/", "a/b/"} {
		if o := s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str(name), atRemoveDir); o.Errno != syscall.EACCES {
			t.Errorf("rmdir %s: %v", name, o)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, p.base)); diff != "" {
		t.Error(diff)
	}
	list, _ = b.Denials()
	if len(list) <= count {
		t.Errorf("%d denials recorded", len(list)-count)
	}
	for _, c := range []struct{ from, to string }{
		{"natf", "l1"}, {"nat/f", "l2"}, {"l1", "nat/l3"}, {"a/f", "l4"}, {"to-config", "l5"},
	} {
		if o := s.link(t, c.from, c.to); o.Errno != 0 {
			t.Errorf("link %s as %s: %v", c.from, c.to, o)
		}
	}
	if o := s.rename(t, "l4", "nat/l3", 2); o.Errno != 0 {
		t.Errorf("exchange: %v", o)
	}
	if o := s.rename(t, "l4", "nat/l3", 1); o.Errno != syscall.EEXIST {
		t.Errorf("no replacing: %v", o)
	}
}

// TestNestedMissingFolder: the folder in which an exception is awaited can be
// made, filled, and not moved; the exception can't be made in any way.
func TestNestedMissingFolder(t *testing.T) {
	p := makeProject(t)
	s, _ := startProject(t, p, policy.BlockedWrite)
	if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str("x"), os.O_WRONLY|os.O_CREATE, 0o644); o.Errno != syscall.EACCES {
		t.Errorf("a file in its place: %v", o)
	}
	if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("x/"), 0o755); o.Errno != 0 {
		t.Fatalf("mkdir: %v", o)
	}
	if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("x"), 0o755); o.Errno != syscall.EEXIST {
		t.Errorf("mkdir again: %v", o)
	}
	for _, c := range fileCallsToTry() {
		want := syscall.EACCES
		if !c.makes {
			want = syscall.ENOENT
		}
		if o := c.do(s, t, "x/y"); o.Errno != want {
			t.Errorf("%s: %v", c.name, o)
		}
	}
	if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("x/z"), 0o755); o.Errno != 0 {
		t.Errorf("mkdir in it: %v", o)
	}
	for _, o := range []outcome{
		s.rename(t, "x", "x2", 0), s.rename(t, "x/z", "x/y", 0), s.rename(t, "data", "x/y", 0),
		s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("x"), atRemoveDir),
	} {
		if o.Errno != syscall.EACCES {
			t.Error(o)
		}
	}
}

// TestNestedReplaced: what stands under the name of a native folder that was
// removed is served too.
func TestNestedReplaced(t *testing.T) {
	p := makeProject(t)
	s, _ := startProject(t, p, policy.BlockedWrite)
	for _, c := range []struct {
		name string
		flag int
	}{{"nat/f", 0}, {"nat/sub", atRemoveDir}, {"nat", atRemoveDir}} {
		if o := s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str(c.name), c.flag); o.Errno != 0 {
			t.Fatalf("remove %s: %v", c.name, o)
		}
	}
	for _, name := range []string{"nat", "nat/deep", "nat/deep/er"} {
		if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(name), 0o755); o.Errno != 0 {
			t.Errorf("mkdir %s: %v", name, o)
		}
	}
	for _, c := range fileCallsToTry() {
		if c.makes {
			name := "nat/deep/er/" + strings.ReplaceAll(c.name, " ", "-")
			if o := c.do(s, t, name); o.Errno != 0 {
				t.Errorf("%s: %v", c.name, o)
			}
		}
	}
}

// TestNestedHidden: what is blocked can't be read, what stands beside it can.
func TestNestedHidden(t *testing.T) {
	p := makeProject(t)
	s, b := startProject(t, p, policy.Blocked)
	read := func(name string, flags int) outcome {
		o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), flags, 0)
		if o.Errno == 0 {
			s.close(t, int(o.Value))
		}
		return o
	}
	for _, name := range []string{".", "git", "a/b", "a/f", "nat/f", "natf", "../r/f", "nat", "/proc/self/status", "/proc/self/cwd/a/f"} {
		if o := read(name, os.O_RDONLY); o.Errno != 0 {
			t.Errorf("%s: %v", name, o)
		}
	}
	if o := read("a/f", os.O_RDONLY|syscall.O_DIRECTORY); o.Errno != syscall.ENOTDIR {
		t.Errorf("a file as a folder: %v", o)
	}
	if o := read(".", os.O_RDONLY|syscall.O_DIRECTORY); o.Errno != 0 {
		t.Errorf("listing: %v", o)
	}
	for _, name := range []string{"git/hooks", "git/hooks/h", "git/config", "to-config", "a/b/secret", "../none/f", "/proc/self/cwd/a/b/secret"} {
		if o := read(name, os.O_RDONLY); o.Errno != syscall.EACCES {
			t.Errorf("%s: %v", name, o)
		}
	}
	if list, _ := b.Denials(); len(list) < 7 || list[0].Object != p.dir+"/git/hooks" || list[0].Rule == nil {
		t.Errorf("denials %+v", list)
	}
	// A file that is made stays readable, and so does a folder.
	if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str("made"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); o.Errno != 0 {
		t.Error(o)
	}
	if o := read("made", os.O_RDONLY); o.Errno != 0 {
		t.Error(o)
	}
}

// TestNestedThroughLink: the symbolic link by which a blocked place was named
// is guarded like a folder on the way to it, and so is a blocked link.
func TestNestedThroughLink(t *testing.T) {
	p := makeProject(t)
	for name, to := range map[string]string{"way": "data", "env": "natf"} {
		if err := os.Symlink(to, p.dir+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(p.dir+"/data/secret", []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	rules := p.rules(policy.BlockedWrite)
	for _, name := range []string{"way/secret", "env"} {
		rules = append(rules, policy.PathRule{Path: p.dir + "/" + name, Kind: policy.BlockedWrite})
	}
	s, _ := startNested(t, hostTree(t, rules...), "calls")
	if o := s.call(t, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
		t.Fatal(o)
	}
	before := snapshot(t, p.base)
	for what, o := range map[string]outcome{
		"write by the link":      s.call(t, syscall.SYS_OPENAT, atFDCWD, str("way/secret"), os.O_WRONLY, 0),
		"write by the name":      s.call(t, syscall.SYS_OPENAT, atFDCWD, str("data/secret"), os.O_WRONLY, 0),
		"write the link's file":  s.call(t, syscall.SYS_OPENAT, atFDCWD, str("env"), os.O_WRONLY, 0),
		"move the link":          s.rename(t, "way", "way2", 0),
		"replace the link":       s.rename(t, "natf", "way", 0),
		"remove the link":        s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("way"), 0),
		"remove the blocked one": s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("env"), 0),
		"move the folder":        s.rename(t, "data", "data2", 0),
		"move what it leads to":  s.rename(t, "natf", "natf2", 0),
	} {
		if o.Errno != syscall.EACCES {
			t.Errorf("%s: %v", what, o)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, p.base)); diff != "" {
		t.Error(diff)
	}
	if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str("way/other"), os.O_WRONLY|os.O_CREATE, 0o644); o.Errno != 0 {
		t.Errorf("beside it: %v", o)
	}
}
