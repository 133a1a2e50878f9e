// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// inodesOf returns what is in store, which a test asks for once.
func inodesOf(tb testing.TB, s *Stock) map[uint64]bool {
	tb.Helper()
	inodes := map[uint64]bool{}
	err := s.Each(func(fd int, dev, ino uint64) error {
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil || st.Ino != ino || uint64(st.Dev) != dev {
			tb.Errorf("in store: %+v, %v", st, err)
		}
		inodes[ino] = true
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return inodes
}

// TestLeave: the next run has the very folders that one has left, under
// another name, and new ones for those that were used.
func TestLeave(t *testing.T) {
	dir := ours(t)
	dev, place := devOf(t, dir), dir+"/place"
	lay := func() *Stock { return Make(maxFolders, []uint64{dev}, []string{place}, always) }
	s := lay()
	before := inodesOf(t, s)
	own := names(t, place)
	if !s.Put(parentAt(t, dir), "new", 0o755) {
		t.Fatal("not put")
	}
	s.Leave()
	s.Close()
	free := names(t, place)
	if len(free) != 1 || !strings.HasPrefix(filepath.Base(free[0]), freePrefix) {
		t.Fatalf("left: %v", free)
	}
	s = lay()
	after := inodesOf(t, s)
	if again := names(t, place); len(again) != 1 || again[0] == own[0] || strings.HasSuffix(free[0], filepath.Base(again[0])) {
		t.Errorf("first %v, then %v, now %v", own, free, again)
	}
	used := uint64(0)
	for ino := range before {
		if !after[ino] {
			used = ino
		}
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(dir+"/new", &st); err != nil || len(after) != maxFolders || st.Ino != used {
		t.Errorf("%v, then %v, and %d was put: %v", before, after, st.Ino, err)
	}
	s.Close()
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left by a run that did not end as it should: %v", left)
	}
}

// TestLeaveMany: runs at the same time have folders of their own, and only a
// few are left in the end.
func TestLeaveMany(t *testing.T) {
	dir := ours(t)
	dev, place := devOf(t, dir), dir+"/place"
	const runs, rounds = 3 * maxLeft, 5
	for range rounds {
		var group sync.WaitGroup
		var all [runs]*Stock
		for i := range all {
			group.Go(func() { all[i] = Make(2, []uint64{dev}, []string{place}, always) })
		}
		group.Wait()
		seen := map[uint64]bool{}
		for _, s := range all {
			for ino := range inodesOf(t, s) {
				if seen[ino] {
					t.Errorf("two runs have %d", ino)
				}
				seen[ino] = true
			}
		}
		if len(seen) < runs { // one may have found its folder swept before it was locked
			t.Errorf("%d folders in store", len(seen))
		}
		for _, s := range all {
			group.Go(s.Leave)
		}
		group.Wait()
		if left := names(t, place); len(left) > maxLeft {
			t.Errorf("left: %v", left)
		}
	}
}

// TestLeaveSurplus: where too many are left, however that came, the next run
// removes them.
func TestLeaveSurplus(t *testing.T) {
	dir := ours(t)
	dev, place := devOf(t, dir), dir+"/place"
	for _, c := range "0123456789" {
		name := place + "/" + freePrefix + strings.Repeat(string(c), 16)
		if err := os.MkdirAll(name+"/0", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := Make(maxFolders, []uint64{dev}, []string{place}, always)
	if left := names(t, place); len(left) != maxLeft {
		t.Errorf("left: %v", left)
	}
	s.Leave()
	if left := names(t, place); len(left) != maxLeft {
		t.Errorf("left: %v", left)
	}
}

// TestUnfit: what is not as a run leaves it is not used, and nothing but empty
// folders is removed.
func TestUnfit(t *testing.T) {
	free := freePrefix + strings.Repeat("a", 16)
	for _, c := range []struct {
		name   string
		change func(dir string) error // of a folder left
		stays  string                 // in it; "." is itself
		used   bool
	}{
		{"nothing", func(string) error { return nil }, "", true},
		{"something in one of them", func(dir string) error { return os.WriteFile(dir+"/0/f", nil, 0o600) }, "0/f", false},
		{"a folder in one of them", func(dir string) error { return os.Mkdir(dir+"/0/d", 0o700) }, "0/d", false},
		{"the mode of one of them", func(dir string) error { return os.Chmod(dir+"/0", 0o755) }, "", false},
		{"its own mode", func(dir string) error { return os.Chmod(dir, 0o755) }, ".", false},
		{"a file beside them", func(dir string) error { return os.WriteFile(dir+"/f", nil, 0o600) }, "f", false},
		{"a file for one of them", func(dir string) error {
			return errors.Join(os.Remove(dir+"/0"), os.WriteFile(dir+"/0", nil, 0o600))
		}, "0", false},
		{"a link for one of them", func(dir string) error {
			return errors.Join(os.Remove(dir+"/0"), os.Symlink("../../target", dir+"/0"))
		}, "0", false},
		{"a file for itself", func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		}, ".", false},
		{"a link for itself", func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Symlink("../target", dir))
		}, ".", false},
		{"an attribute", func(dir string) error { return syscall.Setxattr(dir+"/0", "user.t", []byte("v"), 0) }, "", false},
		{"another name", func(dir string) error { return os.Rename(dir+"/0", dir+"/other") }, "", false},
		{"one too many", func(dir string) error { return os.Mkdir(dir+"/9", 0o700) }, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := ours(t)
			if err := errors.Join(os.MkdirAll(dir+"/target/0", 0o700), os.MkdirAll(dir+"/place", 0o700)); err != nil {
				t.Fatal(err)
			}
			at := dir + "/place/" + free
			if err := errors.Join(os.Mkdir(at, 0o700), os.Mkdir(at+"/0", 0o700), os.Chown(at+"/0", -1, os.Getegid())); err != nil {
				t.Fatal(err)
			}
			// It is held open: else a new folder could get its inode.
			held, target := parentAt(t, at+"/0"), parentAt(t, dir+"/target/0")
			switch err := c.change(at); {
			case c.name == "an attribute" && err == syscall.EOPNOTSUPP:
				t.Skip("this file system has no attributes")
			case err != nil:
				t.Fatal(err)
			}
			s := Make(maxFolders, []uint64{devOf(t, dir)}, []string{dir + "/place"}, always)
			defer s.Close()
			in := inodesOf(t, s)
			if len(in) != maxFolders {
				t.Errorf("%d folders in store", len(in))
			}
			if in[held.Stat.Ino] != c.used || in[target.Stat.Ino] {
				t.Errorf("used: %v, of those a link leads to: %v", in[held.Stat.Ino], in[target.Stat.Ino])
			}
			if _, err := os.Lstat(dir + "/target/0"); err != nil {
				t.Error(err)
			}
			switch _, err := os.Lstat(filepath.Join(at, c.stays)); {
			case c.stays != "" && err != nil:
				t.Error(err)
			case c.stays == "" && !os.IsNotExist(err):
				t.Errorf("it is left: %v", err)
			}
		})
	}
}
