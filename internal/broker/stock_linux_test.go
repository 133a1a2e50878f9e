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

	"github.com/ambit-sandbox/ambit/policy"
)

// TestStockedFolder makes folders in every kind of folder, natively and out of
// the stock, and compares each answer and what is there then.
func TestStockedFolder(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dirs := [2]string{base + "/nat", base + "/bro"}
	var twins [2]*twin
	var files *Files
	for i, dir := range dirs {
		if err := os.MkdirAll(dir+"/kept", 0o755); err != nil {
			t.Fatal(err)
		}
		w := &twin{dir: dir}
		if i == 0 {
			w.subject = start(t, roleBare, nil, "calls")
		} else {
			tree := hostTree(t, policy.PathRule{Path: dir, Kind: policy.Write}, policy.PathRule{Path: dir + "/kept", Kind: policy.BlockedWrite},
				policy.PathRule{Path: dir + "/way/to/missing", Kind: policy.BlockedWrite})
			ruleset, f := lower(t, tree)
			stockUp(t, ruleset, f, 600, base+"/place")
			s, listener := startConfined(t, ruleset, classOf(tree), "calls")
			serve(t, s, listener, Options{Tree: tree, Files: f})
			w.subject, files = s, f
		}
		twins[i] = w
	}
	stocked := func(name string) bool {
		_, found := files.Native[identify(name)]
		return found
	}
	parents := map[string]struct {
		prepare func(dir string) error
		// plain: it hands nothing down, so the stock may serve it.
		plain bool
	}{
		"plain":        {func(string) error { return nil }, true},
		"sticky":       {func(dir string) error { return os.Chmod(dir, 0o1777|os.ModeSticky) }, true},
		"setgid":       {func(dir string) error { return os.Chmod(dir, 0o755|os.ModeSetgid) }, false},
		"default acl":  {func(dir string) error { return syscall.Setxattr(dir, "system.posix_acl_default", minimalACL(), 0) }, false},
		"not writable": {func(dir string) error { return os.Chmod(dir, 0o555) }, false},
		"not listable": {func(dir string) error { return os.Chmod(dir, 0o333) }, false},
	}
	names := []string{"new", "new/", "new//", "there", "file", "link", "dangling", "missing/new", "file/new", ".", "..", "link/new", strings.Repeat("x", 255), strings.Repeat("x", 256), ""}
	for name, p := range parents {
		for _, dir := range dirs {
			at := dir + "/" + name
			for _, err := range []error{
				os.MkdirAll(at+"/there", 0o755), os.WriteFile(at+"/file", nil, 0o644), os.Symlink("there", at+"/link"),
				os.Symlink("nowhere", at+"/dangling"), p.prepare(at),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			defer func() { _ = os.Chmod(at, 0o755) }()
		}
		for _, mask := range []int{0, 0o22, 0o77, 0o200} {
			for _, mode := range []int{0o777, 0o755, 0o1777, 0o7777, 0o500, 0o250} {
				for _, made := range names {
					var got [2]string
					for i, w := range twins {
						w.call(t, syscall.SYS_UMASK, mask)
						full := dirs[i] + "/" + name + "/" + made
						if made == "" {
							full = ""
						}
						o := w.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(full), mode)
						got[i] = o.String()
						if o.Errno != 0 {
							continue
						}
						s := stateOf(t, strings.TrimRight(full, "/"))
						got[i] = fmt.Sprintf("%o %d:%d %d %v", s.Mode, s.UID, s.GID, s.Links, s.Attributes)
						if i == 1 && stocked(full) != ((p.plain || made == "link/new") && mode&^mask&0o200 != 0) {
							t.Errorf("%s/%.20s: out of the stock: %v", name, made, stocked(full))
						}
						_ = os.Chmod(full, 0o700)
						if err := os.Remove(full); err != nil {
							t.Fatal(err)
						}
					}
					if diff := cmp.Diff(got[0], got[1]); diff != "" {
						t.Errorf("%s/%.20s, mode %o, umask %o: %s", name, made, mode, mask, diff)
					}
				}
			}
		}
	}
	// A folder on the way to an exception is never out of the stock: its rule
	// would hold below the exception too.
	twins[1].call(t, syscall.SYS_UMASK, 0o22)
	if o := twins[1].call(t, syscall.SYS_MKDIRAT, atFDCWD, str(dirs[1]+"/way"), 0o755); o.Errno != 0 || stocked(dirs[1]+"/way") {
		t.Errorf("on the way to an exception: %v, out of the stock: %v", o, stocked(dirs[1]+"/way"))
	}
	if o := twins[1].call(t, syscall.SYS_MKDIRAT, atFDCWD, str(dirs[1]+"/way/to"), 0o755); o.Errno != 0 {
		t.Error(o)
	}
	if o := twins[1].call(t, syscall.SYS_MKDIRAT, atFDCWD, str(dirs[1]+"/way/to/missing"), 0o755); o.Errno != syscall.EACCES {
		t.Error(o)
	}
}

// TestStockUsedUp: without a stock a folder is made all the same.
func TestStockUsedUp(t *testing.T) {
	p := makeProject(t)
	tree := hostTree(t, p.rules(policy.BlockedWrite)...)
	ruleset, files := lower(t, tree)
	stockUp(t, ruleset, files, 2, p.base+"/place")
	s, listener := startConfined(t, ruleset, classOf(tree), "calls")
	serve(t, s, listener, Options{Tree: tree, Files: files})
	native := 0
	for i := range 5 {
		name := fmt.Sprintf("%s/new%d", p.dir, i)
		if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(name), 0o755); o.Errno != 0 {
			t.Fatal(o)
		}
		if _, found := files.Native[identify(name)]; found {
			native++
		}
		if o := s.call(t, syscall.SYS_MKDIRAT, atFDCWD, str(name+"/below"), 0o755); o.Errno != 0 {
			t.Error(o)
		}
		if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name+"/below/f"), os.O_WRONLY|os.O_CREATE, 0o644); o.Errno != 0 {
			t.Error(o)
		}
	}
	if native != 2 {
		t.Errorf("%d folders were out of the stock, not 2", native)
	}
	// What came out of the stock can't be moved onto an exception, nor can one
	// be moved into it.
	for _, c := range [][2]string{{"new0", "missing"}, {"new0", "x"}, {"git/config", "new0/config"}, {"a/b/secret", "new0/below/f"}} {
		if o := s.call(t, syscall.SYS_RENAMEAT, atFDCWD, str(p.dir+"/"+c[0]), atFDCWD, str(p.dir+"/"+c[1])); o.Errno != syscall.EACCES && o.Errno != syscall.EXDEV {
			t.Errorf("%v: %v", c, o) // EXDEV is Landlock's, for what would gain rights
		}
		if o := s.call(t, syscall.SYS_LINKAT, atFDCWD, str(p.dir+"/"+c[0]), atFDCWD, str(p.dir+"/"+c[1]), 0); o.Errno != syscall.EACCES && o.Errno != syscall.EXDEV && o.Errno != syscall.EPERM && o.Errno != syscall.EEXIST {
			t.Errorf("%v: %v", c, o)
		}
	}
}
