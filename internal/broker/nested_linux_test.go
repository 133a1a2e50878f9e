// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// project is a writable folder with exceptions of every kind inside.
type project struct{ base, dir string }

func makeProject(tb testing.TB) project {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	p := project{base, base + "/p"}
	for _, d := range []string{"p/git/hooks/sub", "p/a/b", "p/nat/sub", "r", "none", "p/data"} {
		if err := os.MkdirAll(base+"/"+d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	for _, f := range []string{"p/git/hooks/h", "p/git/config", "p/a/b/secret", "p/a/f", "p/nat/f", "p/natf", "r/f", "none/f"} {
		if err := os.WriteFile(base+"/"+f, []byte(f), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Symlink("git/config", p.dir+"/to-config"); err != nil {
		tb.Fatal(err)
	}
	if err := os.Symlink("a/later", p.dir+"/dangling"); err != nil {
		tb.Fatal(err)
	}
	return p
}

// rules block places in the project, of kind Blocked or BlockedWrite.
func (p project) rules(kind policy.Kind) []policy.PathRule {
	rules := []policy.PathRule{
		{Path: p.dir, Kind: policy.Write},
		{Path: p.base + "/r", Kind: policy.Read},
	}
	for _, name := range []string{"git/hooks", "git/config", "a/b/secret", "x/y", "missing"} {
		rules = append(rules, policy.PathRule{Path: p.dir + "/" + name, Kind: kind})
	}
	return rules
}

// fileCall is a call on one name.
type fileCall struct {
	name string
	// makes: it needs that nothing stands there.
	makes bool
	do    func(s *subject, tb testing.TB, name string) outcome
}

const atRemoveDir = 0x200

func atCall(nr int, args ...any) func(*subject, testing.TB, string) outcome {
	return func(s *subject, tb testing.TB, name string) outcome {
		tb.Helper()
		all := []any{atFDCWD, str(name)}
		return s.call(tb, nr, append(all, args...)...)
	}
}

func fileCallsToTry() []fileCall {
	opening := func(name string, makes bool, flags int) fileCall {
		return fileCall{name, makes, func(s *subject, tb testing.TB, name string) outcome {
			tb.Helper()
			o := s.call(tb, syscall.SYS_OPENAT, atFDCWD, str(name), flags, 0o644)
			if o.Errno == 0 {
				s.close(tb, int(o.Value))
				o.Value = 0
			}
			return o
		}}
	}
	return append(legacyFileCalls(), []fileCall{
		opening("write", false, os.O_WRONLY),
		opening("read and write", false, os.O_RDWR),
		opening("append", false, os.O_WRONLY|os.O_APPEND),
		opening("truncating", false, os.O_WRONLY|os.O_TRUNC),
		opening("truncating by reading", false, os.O_RDONLY|os.O_TRUNC),
		opening("create", true, os.O_WRONLY|os.O_CREATE),
		opening("create to read", true, os.O_RDONLY|os.O_CREATE),
		opening("create new", true, os.O_RDWR|os.O_CREATE|os.O_EXCL),
		{"truncate", false, func(s *subject, tb testing.TB, name string) outcome {
			tb.Helper()
			return s.call(tb, syscall.SYS_TRUNCATE, str(name), 1)
		}},
		{"mkdirat", true, atCall(syscall.SYS_MKDIRAT, 0o755)},
		{"mknod file", true, atCall(syscall.SYS_MKNODAT, 0o644, 0)},
		{"mknod fifo", true, atCall(syscall.SYS_MKNODAT, syscall.S_IFIFO|0o644, 0)},
		{"symlink", true, func(s *subject, tb testing.TB, name string) outcome {
			tb.Helper()
			return s.call(tb, syscall.SYS_SYMLINKAT, str("anything"), atFDCWD, str(name))
		}},
		{"bind", true, func(s *subject, tb testing.TB, name string) outcome {
			tb.Helper()
			fd := s.call(tb, syscall.SYS_SOCKET, syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			defer s.close(tb, int(fd.Value))
			addr := memory(unixPath(name))
			return s.call(tb, syscall.SYS_BIND, int(fd.Value), addr, len(addr))
		}},
		{"unlinkat", false, atCall(syscall.SYS_UNLINKAT, 0)},
	}...)
}

// TestNestedCalls makes every call at every kind of place.
func TestNestedCalls(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		t.Run(string(kind), func(t *testing.T) {
			p := makeProject(t)
			s, _ := startNested(t, hostTree(t, p.rules(kind)...), "calls")
			if o := s.call(t, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
				t.Fatal(o)
			}
			if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("new"), 0o777); o.Errno != 0 {
				t.Fatal(o)
			}
			for _, c := range fileCallsToTry() {
				t.Run(c.name, func(t *testing.T) { p.tryCall(t, s, c, kind) })
			}
		})
	}
}

// TestNestedOld: the same where Landlock has no right for truncation.
func TestNestedOld(t *testing.T) {
	t.Setenv(oldVariable, "1")
	p := makeProject(t)
	s, _ := startNested(t, hostTree(t, p.rules(policy.BlockedWrite)...), "calls")
	if o := s.call(t, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
		t.Fatal(o)
	}
	if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("new"), 0o777); o.Errno != 0 {
		t.Fatal(o)
	}
	for _, c := range fileCallsToTry() {
		if c.name != "truncating by reading" {
			t.Run(c.name, func(t *testing.T) { p.tryCall(t, s, c, policy.BlockedWrite) })
		}
	}
	before := snapshot(t, p.base)
	for _, name := range []string{"git/hooks/h", "git/config", "../r/f", "/proc/self/cwd/git/config", "to-config"} {
		for _, flags := range []int{os.O_RDONLY | os.O_TRUNC, 3 | os.O_TRUNC, os.O_RDONLY | os.O_TRUNC | os.O_CREATE} {
			if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), flags, 0o600); o.Errno != syscall.EACCES {
				t.Errorf("open of %s with %#x: %v", name, flags, o)
			}
		}
		fd := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), os.O_RDONLY, 0)
		if fd.Errno != 0 {
			t.Errorf("reading %s: %v", name, fd)
			continue
		}
		again := fmt.Sprintf("/proc/self/fd/%d", fd.Value)
		for _, flags := range []int{os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_TRUNC, os.O_RDWR | os.O_TRUNC} {
			if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(again), flags, 0); o.Errno != syscall.EACCES {
				t.Errorf("opening %s again with %#x: %v", name, flags, o)
			}
		}
		if o := s.call(t, syscall.SYS_TRUNCATE, str(again), 1); o.Errno != syscall.EACCES {
			t.Errorf("truncating %s by its descriptor: %v", name, o)
		}
		if o := s.call(t, syscall.SYS_FTRUNCATE, int(fd.Value), 1); o.Errno != syscall.EINVAL {
			t.Errorf("ftruncate of %s, open for reading: %v", name, o)
		}
		s.close(t, int(fd.Value))
	}
	if diff := cmp.Diff(before, snapshot(t, p.base)); diff != "" {
		t.Errorf("something changed: %s", diff)
	}
}

func (p project) tryCall(t *testing.T, s *subject, c fileCall, kind policy.Kind) {
	works := []string{"fresh", "new/fresh", "nat/fresh", "a/fresh", "a/b/fresh", "nat/sub/fresh", p.dir + "/git/fresh", "/proc/self/cwd/fresh"}
	for _, name := range works {
		full := name
		if name[0] != '/' {
			full = p.dir + "/" + name
		}
		if name == "/proc/self/cwd/fresh" {
			full = p.dir + "/fresh"
		}
		_ = os.Remove(full)
		if !c.makes {
			if err := os.WriteFile(full, []byte("content"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if o := c.do(s, t, name); o != (outcome{}) {
			t.Errorf("%s: %v", name, o)
		}
		_, err := os.Lstat(full)
		if stands := err == nil; stands == strings.HasPrefix(c.name, "unlink") {
			t.Errorf("%s: stands afterwards: %v", name, stands)
		}
		_ = os.Remove(full)
	}
	for _, name := range []string{
		"git/hooks/h", "git/config", "a/b/secret", "to-config", "../r/f", "../none/f", "/proc/self/cwd/git/config", "new/../git/hooks/h",
		"git/hooks/fresh", "missing", "../r/fresh", "../none/fresh", "x", "git/hooks/sub/fresh",
	} {
		if strings.HasPrefix(c.name, "mkdir") && name == "x" {
			continue // a folder on the way may be made: TestNestedMissingFolder
		}
		before := snapshot(t, p.base)
		want := syscall.EACCES
		_, err := os.Stat(filepath.Join(p.dir, name))
		exists := err == nil || name == "/proc/self/cwd/git/config"
		switch {
		case exists && c.name == "create to read" && (kind == policy.BlockedWrite || name == "../r/f") && name != "../none/f":
			want = 0 // nothing is made, and reading is granted
		case c.makes && exists && (c.name == "create" || c.name == "create to read"):
		case c.makes && exists && c.name == "bind":
			want = syscall.EADDRINUSE
		case c.makes && exists:
			want = syscall.EEXIST
		case !c.makes && !exists:
			want = syscall.ENOENT
		case name == "to-config" && strings.HasPrefix(c.name, "unlink"):
			continue // the link itself is nobody's
		}
		if o := c.do(s, t, name); o.Errno != want {
			t.Errorf("%s: %v, not %v", name, o, sys.ErrnoName(want))
		}
		if diff := cmp.Diff(before, snapshot(t, p.base)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
