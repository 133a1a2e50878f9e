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

// patternRules block names in a project: at any depth, one by its ending in one
// folder, and below a folder that is missing.
func (p project) patternRules(kind policy.Kind) []policy.PathRule {
	rules := []policy.PathRule{{Path: p.dir, Kind: policy.Write}, {Path: p.base + "/r", Kind: policy.Read}, {Path: p.base + "/q", Kind: policy.Write}}
	for _, pattern := range []string{"**/.env", "**/se*et", "a/*.pem", "x/*/y"} {
		rules = append(rules, policy.PathRule{Path: p.dir + "/" + pattern, Kind: kind, Pattern: true})
	}
	return rules
}

// startPatterns makes a project, and a child in its folder. Beside the project
// stands the folder q, which is writable and no pattern's.
func startPatterns(tb testing.TB, kind policy.Kind) (project, *subject, *Broker) {
	tb.Helper()
	p := makeProject(tb)
	for _, d := range []string{"p/d/sub", "q/d", "p/nat/.env"} {
		if err := os.MkdirAll(p.base+"/"+d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	for _, f := range []string{"p/.env", "p/d/.env", "p/nat/.env/f", "p/a/k.pem", "q/f", "q/d/.env"} {
		if err := os.WriteFile(p.base+"/"+f, []byte(f), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	s, b := startNested(tb, hostTree(tb, p.patternRules(kind)...), "calls")
	if o := s.call(tb, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
		tb.Fatal(o)
	}
	return p, s, b
}

// TestNestedPatternCalls makes every call at names that a pattern matches, in
// folders that were there and in ones that are made later, and beside them.
func TestNestedPatternCalls(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		t.Run(string(kind), func(t *testing.T) {
			p, s, _ := startPatterns(t, kind)
			for _, name := range []string{"new", "new/deep", "new/deep/er"} {
				if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(name), 0o777); o.Errno != 0 {
					t.Fatal(o)
				}
			}
			for _, c := range fileCallsToTry() {
				t.Run(c.name, func(t *testing.T) {
					for _, name := range []string{"free", "new/free", "new/deep/er/free", "nat/free", "a/b/k.pem", "new/x.pem", "../q/.envx", "a/kpem"} {
						_ = os.Remove(p.dir + "/" + name)
						if !c.makes {
							if err := os.WriteFile(p.dir+"/"+name, []byte("content"), 0o644); err != nil {
								t.Fatal(err)
							}
						}
						if o := c.do(s, t, name); o != (outcome{}) {
							t.Errorf("%s: %v", name, o)
						}
						_ = os.Remove(p.dir + "/" + name)
					}
					p.tryMatching(t, s, c, kind)
				})
			}
		})
	}
}

func (p project) tryMatching(t *testing.T, s *subject, c fileCall, kind policy.Kind) {
	t.Helper()
	outside := p.dir + "/new/deep/.env"
	if err := os.WriteFile(outside, []byte("from outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		".env", "d/.env", "nat/.env/f", "nat/../.env", "/proc/self/cwd/d/.env", p.dir + "/a/k.pem", "a/b/secret", "new/deep/.env",
		"new/.env", "nat/.env/new", "a/.pem", "new/deep/er/sexet", "x",
	} {
		if strings.HasPrefix(c.name, "mkdir") && name == "x" {
			continue
		}
		before := snapshot(t, p.base)
		_, err := os.Stat(p.dir + "/" + strings.TrimPrefix(strings.TrimPrefix(name, "/proc/self/cwd/"), p.dir+"/"))
		exists, want := err == nil, syscall.EACCES
		switch {
		case exists && c.name == "create to read" && kind == policy.BlockedWrite:
			want = 0
		case c.makes && exists && (c.name == "create" || c.name == "create to read"):
		case c.makes && exists && c.name == "bind":
			want = syscall.EADDRINUSE
		case c.makes && exists:
			want = syscall.EEXIST
		case !c.makes && !exists:
			want = syscall.ENOENT
		}
		if o := c.do(s, t, name); o.Errno != want {
			t.Errorf("%s: %v, not %v", name, o, sys.ErrnoName(want))
		}
		if diff := cmp.Diff(before, snapshot(t, p.base)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestNestedPatternMove: nothing gets a name that a pattern matches, or loses
// one. A folder moves freely among places below which the same names match;
// to others it must be copied.
func TestNestedPatternMove(t *testing.T) {
	p, s, _ := startPatterns(t, policy.BlockedWrite)
	for _, c := range []struct{ from, to string }{
		{"d", "d2"}, {"d2", "nat/d2"}, {"nat/d2", "d"}, {"natf", "d/natf"}, {"d/natf", "natf"}, {"data", "nat/data"}, {"nat/data", "data"},
		{"a/f", "a/b/f"}, {"a/b/f", "f"}, {"f", "a/f"}, {"../q/f", "../q/f2"}, {"../q/d", "../q/d2"}, {"../q/d2", "../q/d"}, {"natf", "new.pem"}, {"new.pem", "natf"},
	} {
		if o := s.rename(t, c.from, c.to, 0); o.Errno != 0 {
			t.Errorf("%s to %s: %v", c.from, c.to, o)
		}
	}
	before := snapshot(t, p.base)
	for _, c := range []struct {
		from, to string
		want     syscall.Errno
	}{
		{".env", "env", syscall.EACCES}, {"d/.env", "env", syscall.EACCES}, {"natf", "d/.env", syscall.EACCES}, {"natf", "data/.env", syscall.EACCES},
		{"data", "nat/.env", syscall.EACCES}, {"data", "data2/.env", syscall.ENOENT}, {"nat/.env", "env", syscall.EACCES}, {"nat/.env/f", "f2", syscall.EACCES},
		{"natf", "nat/.env/f2", syscall.EACCES}, {"natf", "a/n.pem", syscall.EACCES}, {"a/k.pem", "k", syscall.EACCES}, {"natf", "../q/.env/x", syscall.ENOENT},
		{"a", "a2", syscall.EACCES}, {"natf", "a", syscall.EACCES}, {"data", "x", syscall.EACCES},
		{"d", "../q/d3", syscall.EXDEV}, {"data", "../q/d3", syscall.EXDEV}, {"../q/d", "q", syscall.EXDEV}, {"natf", "../q/natf", syscall.EXDEV},
		{"../q/d", "data", syscall.EXDEV},
	} {
		for _, flags := range []int{0, 2} {
			want := c.want
			if _, err := os.Lstat(p.dir + "/" + c.to); flags == 2 && err != nil {
				want = syscall.ENOENT
			}
			o := s.rename(t, c.from, c.to, flags)
			if flags == 2 && want == syscall.ENOENT && o.Errno == c.want {
				continue // which of two errors comes first is the broker's to choose
			}
			if o.Errno != want {
				t.Errorf("%s to %s, flags %d: %v, not %v", c.from, c.to, flags, o, sys.ErrnoName(want))
			}
		}
	}
	for _, c := range []struct{ from, to string }{
		{".env", "e"}, {"nat/.env/f", "e"}, {"natf", ".env2/.env"}, {"natf", "data/.env"}, {"a/k.pem", "k"}, {"natf", "a/n.pem"}, {"/proc/self/cwd/d/.env", "e"},
	} {
		if o := s.link(t, c.from, c.to); o.Errno != syscall.EACCES && !(o.Errno == syscall.ENOENT && strings.HasPrefix(c.to, ".env2")) {
			t.Errorf("link %s as %s: %v", c.from, c.to, o)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, p.base)); diff != "" {
		t.Error(diff)
	}
	if o := s.rename(t, "d", "data", 2); o.Errno != 0 {
		t.Errorf("exchange within: %v", o)
	}
}

// TestNestedPatternReplaced: what others put under a name that a pattern
// matches is closed, and so is what stood there, by the names that it has.
func TestNestedPatternReplaced(t *testing.T) {
	p := makeProject(t)
	if err := os.WriteFile(p.dir+"/.env", []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(p.dir+"/.env", p.dir+"/old-name"); err != nil {
		t.Fatal(err)
	}
	s, _ := startNested(t, hostTree(t, p.patternRules(policy.Blocked)...), "calls")
	if o := s.call(t, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
		t.Fatal(o)
	}
	read := func(name string) syscall.Errno {
		t.Helper()
		o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), os.O_RDONLY, 0)
		if o.Errno == 0 {
			s.close(t, int(o.Value))
		}
		return o.Errno
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := read("old-name"); got != syscall.EACCES {
		t.Errorf("another name of what matched: %v", got)
	}
	if got := read("natf"); got != 0 {
		t.Errorf("a file beside it: %v", got)
	}
	must(os.Rename(p.dir+"/natf", p.dir+"/.env"))
	if got := read(".env"); got != syscall.EACCES {
		t.Errorf("what replaced it: %v", got)
	}
	must(os.MkdirAll(p.dir+"/made/outside", 0o755))
	must(os.WriteFile(p.dir+"/made/outside/.env", nil, 0o644))
	must(os.WriteFile(p.dir+"/made/outside/free", nil, 0o644))
	if got := read("made/outside/.env"); got != syscall.EACCES {
		t.Errorf("in a folder made outside: %v", got)
	}
	if got := read("made/outside/free"); got != 0 {
		t.Errorf("beside it: %v", got)
	}
}

// TestNestedPatternLink: a symbolic link whose name a pattern matches leads
// nowhere, and neither can one be made; what it leads to is open by its name.
func TestNestedPatternLink(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		p := makeProject(t)
		for name, to := range map[string]string{"nat/.env": "../natf", "first": "nat/.env", "a/l.pem": "later"} {
			if err := os.Symlink(to, p.dir+"/"+name); err != nil {
				t.Fatal(err)
			}
		}
		s, _ := startNested(t, hostTree(t, p.patternRules(kind)...), "calls")
		if o := s.call(t, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
			t.Fatal(o)
		}
		reading := syscall.Errno(0)
		if kind == policy.Blocked {
			reading = syscall.EACCES
		}
		for _, c := range []struct {
			name  string
			flags int
			want  syscall.Errno
		}{
			{"nat/.env", os.O_RDONLY, reading}, {"first", os.O_RDONLY, reading}, {"nat/.env", os.O_WRONLY, syscall.EACCES}, {"first", os.O_RDWR, syscall.EACCES},
			{"nat/.env", os.O_WRONLY | os.O_CREATE, syscall.EACCES}, {"a/l.pem", os.O_WRONLY | os.O_CREATE, syscall.EACCES},
			{"natf", os.O_RDONLY, 0}, {"natf", os.O_WRONLY, 0}, {"a/later", os.O_WRONLY | os.O_CREATE, 0},
		} {
			o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(c.name), c.flags, 0o644)
			if o.Errno != c.want {
				t.Errorf("%s: open %s %#x: %v", kind, c.name, c.flags, o)
			}
			if o.Errno == 0 {
				s.close(t, int(o.Value))
			}
		}
		if o := s.call(t, syscall.SYS_TRUNCATE, str("first"), 1); o.Errno != syscall.EACCES {
			t.Errorf("truncate: %v", o)
		}
		for _, name := range []string{"nat/.env", "a/l.pem"} {
			if o := s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str(name), 0); o.Errno != syscall.EACCES {
				t.Errorf("remove %s: %v", name, o)
			}
		}
	}
}

// TestNestedPatternMissing: the folder that a pattern starts from can be made
// if it is missing, and then stays where it is.
func TestNestedPatternMissing(t *testing.T) {
	_, s, _ := startPatterns(t, policy.BlockedWrite)
	for _, name := range []string{"x", "x/a", "x/b"} {
		if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(name), 0o755); o.Errno != 0 {
			t.Fatalf("mkdir %s: %v", name, o)
		}
	}
	for name, o := range map[string]outcome{
		"rename x":   s.rename(t, "x", "x2", 0),
		"rmdir x":    s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("x"), atRemoveDir),
		"mkdir":      s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("x/a/y"), 0o755),
		"rename x/a": s.rename(t, "data", "x/b/y", 0),
	} {
		if o.Errno != syscall.EACCES {
			t.Errorf("%s: %v", name, o)
		}
	}
	for name, o := range map[string]outcome{
		"out of the depth": s.rename(t, "x/a", "a2", 0),
		"into the depth":   s.rename(t, "data", "x/c", 0),
		"below the depth":  s.rename(t, "x/a", "x/b/a", 0),
		"a file, too":      s.rename(t, "natf", "x/c", 0),
	} {
		if o.Errno != syscall.EXDEV {
			t.Errorf("%s: %v", name, o)
		}
	}
	if o := s.rename(t, "x/a", "x/c", 0); o.Errno != 0 {
		t.Errorf("in the same depth: %v", o)
	}
	if o := s.rename(t, "data", "x/b/data", 0); o.Errno != 0 {
		t.Errorf("to where none matches below: %v", o)
	}
}
