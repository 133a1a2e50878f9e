// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// startNew runs a child that may write w, read r, and make h/new, h/a/b, r/new
// and, but for what a block takes away, h/part.
func startNew(tb testing.TB) (s *subject, base string) {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range []string{"w", "r", "h/old"} {
		if err := os.MkdirAll(base+"/"+d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	rules := []policy.PathRule{{Path: base + "/w", Kind: policy.Write}, {Path: base + "/r", Kind: policy.Read}, {Path: base + "/h/part/shut", Kind: policy.Blocked}}
	for _, name := range []string{"h/new", "h/a/b", "h/part", "r/new"} {
		rules = append(rules, policy.PathRule{Path: base + "/" + name, Kind: policy.Write})
	}
	s, _ = startNested(tb, hostTree(tb, rules...), "calls")
	if o := s.call(tb, syscall.SYS_CHDIR, str(base)); o.Errno != 0 {
		tb.Fatal(o)
	}
	return s, base
}

// tryNew compares the answer of a call, and whether it changed anything.
func tryNew(t *testing.T, base, what string, want syscall.Errno, do func() outcome) {
	t.Helper()
	before := snapshot(t, base)
	if o := do(); o.Errno != want {
		t.Errorf("%s: %v, not %v", what, o, sys.ErrnoName(want))
	}
	if diff := cmp.Diff(before, snapshot(t, base)); want != 0 && diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// TestNewPlaceCalls makes every call at a new place, again and again, and at the
// names beside it.
func TestNewPlaceCalls(t *testing.T) {
	s, base := startNew(t)
	tryNew(t, base, "mkdir h/a", 0, func() outcome { return s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("h/a"), 0o755) })
	for _, c := range fileCallsToTry() {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{"h/new", "h/a/b", "r/new", "h/new", base + "/h/new", "h/old/../new"} {
				if !c.makes {
					if err := os.WriteFile(filepath.Join(base, strings.TrimPrefix(name, base)), []byte("content"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				tryNew(t, base, name, 0, func() outcome { return c.do(s, t, name) })
				_, err := os.Lstat(filepath.Join(base, strings.TrimPrefix(name, base)))
				if stands := err == nil; stands == strings.HasPrefix(c.name, "unlink") {
					t.Errorf("%s: stands afterwards: %v", name, stands)
				}
				_ = os.Remove(filepath.Join(base, strings.TrimPrefix(name, base)))
			}
			want := syscall.EACCES
			if !c.makes {
				want = syscall.ENOENT
			}
			for _, name := range []string{"h/new2", "h/ne", "h/NEW", "h/a/c", "r/new2", "h/old/new", "new"} {
				tryNew(t, base, name, want, func() outcome { return c.do(s, t, name) })
			}
		})
	}
}

// TestNewPlaceWays: what is missing on the way to a new place is made as a
// directory and nothing else, once, and stays.
func TestNewPlaceWays(t *testing.T) {
	s, base := startNew(t)
	for _, c := range fileCallsToTry() {
		if c.makes && !strings.HasPrefix(c.name, "mkdir") {
			tryNew(t, base, c.name, syscall.EACCES, func() outcome { return c.do(s, t, "h/a") })
		}
	}
	mkdir := func(name string) outcome { return s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(name), 0o755) }
	for _, step := range []struct {
		what string
		want syscall.Errno
		do   func() outcome
	}{
		{"a directory moved there", syscall.EACCES, func() outcome { mkdir("w/d"); return s.rename(t, "w/d", "h/a", 0) }},
		{"mkdir w/d, the control", syscall.EEXIST, func() outcome { return mkdir("w/d") }},
		{"mkdir h/a/b too early", syscall.ENOENT, func() outcome { return mkdir("h/a/b") }},
		{"mkdir h/a", 0, func() outcome { return mkdir("h/a") }},
		{"mkdir h/a again", syscall.EEXIST, func() outcome { return mkdir("h/a") }},
		{"mkdir h/a/b", 0, func() outcome { return mkdir("h/a/b") }},
		{"mkdir h/a/b/c", 0, func() outcome { return mkdir("h/a/b/c") }},
		{"mkdir h/a/c", syscall.EACCES, func() outcome { return mkdir("h/a/c") }},
		{"rmdir h/a/b/c", 0, func() outcome { return s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("h/a/b/c"), atRemoveDir) }},
		{"rmdir h/a/b", 0, func() outcome { return s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("h/a/b"), atRemoveDir) }},
		{"rmdir h/a", syscall.EACCES, func() outcome { return s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("h/a"), atRemoveDir) }},
		{"moving h/a", syscall.EACCES, func() outcome { return s.rename(t, "h/a", "w/a", 0) }},
		{"listing h/a", syscall.EACCES, func() outcome { return s.call(t, syscall.SYS_OPENAT, atFDCWD, str("h/a"), os.O_RDONLY, 0) }},
	} {
		if step.what == "a directory moved there" {
			if o := step.do(); o.Errno != step.want {
				t.Errorf("%s: %v", step.what, o)
			}
			continue
		}
		tryNew(t, base, step.what, step.want, step.do)
	}
}

// TestNewPlaceMoves: what may be written can be moved and linked to a new place
// and away from it, and to no name beside it.
func TestNewPlaceMoves(t *testing.T) {
	s, base := startNew(t)
	for _, f := range []string{"w/f", "w/g", "r/f", "h/old/f"} {
		if err := os.WriteFile(base+"/"+f, []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(base+"/w/d", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to string
		flags    int
		want     syscall.Errno
	}{
		{"w/f", "h/new", 0, 0}, {"h/new", "r/new", 0, 0}, {"r/new", "w/f", 0, 0}, {"w/d", "h/new", 0, 0}, {"w/f", "h/new/f", 0, 0},
		{"w/g", "h/new", sys.RenameExchange, 0}, {"w/g", "h/new", sys.RenameExchange, 0}, {"h/new", "w/d", 0, 0},
		{"w/d", "h/new2", 0, syscall.EACCES}, {"w/g", "r/new2", 0, syscall.EACCES}, {"h/old/f", "h/new", 0, syscall.EACCES},
		{"r/f", "r/new", 0, syscall.EACCES}, {"h/old", "h/new", 0, syscall.EACCES}, {"w/g", "h/old", sys.RenameExchange, syscall.EACCES},
	} {
		tryNew(t, base, c.from+" to "+c.to, c.want, func() outcome { return s.rename(t, c.from, c.to, c.flags) })
	}
	for _, c := range []struct {
		from, to string
		want     syscall.Errno
	}{
		{"w/g", "h/new", 0}, {"h/new", "r/new", 0}, {"r/new", "w/again", 0}, {"w/g", "h/new2", syscall.EACCES},
		{"r/f", "h/part", syscall.EACCES}, {"h/old/f", "h/part", syscall.EACCES}, {"h/new", "h/c", syscall.EACCES},
	} {
		tryNew(t, base, "link of "+c.from+" to "+c.to, c.want, func() outcome { return s.link(t, c.from, c.to) })
	}
}

// TestNewPlaceThroughLinks: a symbolic link at a new place opens nothing that it
// leads to, and one elsewhere that leads to a new place opens that.
func TestNewPlaceThroughLinks(t *testing.T) {
	s, base := startNew(t)
	if err := os.WriteFile(base+"/h/old/f", []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	open := func(name string, flags int) func() outcome {
		return func() outcome {
			o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), flags, 0o644)
			if o.Errno == 0 {
				s.close(t, int(o.Value))
			}
			return o
		}
	}
	link := func(text, name string) func() outcome {
		return func() outcome { return s.call(t, syscall.SYS_SYMLINKAT, str(text), atFDCWD, str(name)) }
	}
	tryNew(t, base, "a link to a directory", 0, link("old", "h/new"))
	for _, flags := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_TRUNC, os.O_WRONLY | os.O_CREATE} {
		tryNew(t, base, "through it", syscall.EACCES, open("h/new/f", flags))
	}
	tryNew(t, base, "a new file through it", syscall.EACCES, open("h/new/fresh", os.O_WRONLY|os.O_CREATE))
	tryNew(t, base, "mkdir through it", syscall.EACCES, func() outcome { return s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("h/new/d"), 0o755) })
	tryNew(t, base, "a link to nothing", 0, link("nothing", "r/new"))
	tryNew(t, base, "through that", syscall.EACCES, open("r/new", os.O_WRONLY|os.O_CREATE))
	tryNew(t, base, "a link to a new place", 0, link("../h/a/b", "w/l"))
	tryNew(t, base, "mkdir h/a", 0, func() outcome { return s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("h/a"), 0o755) })
	tryNew(t, base, "a file through it", 0, open("w/l", os.O_WRONLY|os.O_CREATE))
	if _, err := os.Lstat(base + "/h/a/b"); err != nil {
		t.Error(err)
	}
}

// TestNewPlaceWithBlock: a new place with a blocked name in it may be made as a
// directory, and then neither moved nor removed.
func TestNewPlaceWithBlock(t *testing.T) {
	s, base := startNew(t)
	create := func(name string) func() outcome {
		return func() outcome {
			return s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), os.O_WRONLY|os.O_CREATE, 0o644)
		}
	}
	tryNew(t, base, "a file", syscall.EACCES, create("h/part"))
	tryNew(t, base, "a directory", 0, func() outcome { return s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str("h/part"), 0o755) })
	tryNew(t, base, "beside the block", 0, create("h/part/open"))
	tryNew(t, base, "the blocked name", syscall.EACCES, create("h/part/shut"))
	tryNew(t, base, "moving it", syscall.EACCES, func() outcome { return s.rename(t, "h/part", "w/part", 0) })
	tryNew(t, base, "moving what is in it", 0, func() outcome { return s.rename(t, "h/part/open", "w/open", 0) })
	tryNew(t, base, "removing it", syscall.EACCES, func() outcome { return s.call(t, syscall.SYS_UNLINKAT, atFDCWD, str("h/part"), atRemoveDir) })
}

// TestNewPlaceSameAsNative makes random operations in a new place, where there
// is no rule at all, as [TestNestedSameAsNative] does around exceptions.
func TestNewPlaceSameAsNative(t *testing.T) {
	for _, seed := range seeds(t) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dirs := [2]string{base + "/nat", base + "/bro"}
			tree := hostTree(t, policy.PathRule{Path: "/usr", Kind: policy.Read}, policy.PathRule{Path: dirs[1], Kind: policy.Write})
			ruleset, files := lower(t, tree)
			for _, dir := range dirs {
				makeGround(t, dir)
			}
			s, listener := startConfined(t, ruleset, classOf(tree), "calls")
			serve(t, s, listener, Options{Tree: tree, Files: files})
			twins := [2]*twin{{dir: dirs[0], subject: start(t, roleBare, nil, "calls")}, {dir: dirs[1], subject: s}}
			for _, w := range twins {
				w.settle(t)
			}
			compareTwins(t, dirs, twins, rand.New(rand.NewPCG(seed, 3)))
		})
	}
}
