// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// host makes a folder to look into, and returns its canonical name.
func host(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{
		os.MkdirAll(filepath.Join(dir, "real/sub"), 0o755),
		os.WriteFile(filepath.Join(dir, "real/file"), nil, 0o644),
		os.WriteFile(filepath.Join(dir, "real/.env"), nil, 0o644),
		os.Symlink("real", filepath.Join(dir, "link")),
		os.Symlink("../real/gone", filepath.Join(dir, "real/dangling")),
		os.Symlink("loop", filepath.Join(dir, "loop")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	return dir
}

// TestResolve: the names of what is there and of what is missing are canonical,
// however they were reached, and in whatever order one resolver is asked.
func TestResolve(t *testing.T) {
	dir := host(t)
	r := New()
	defer r.Close()
	for range 2 { // the second time with what the first has learnt
		for _, c := range []struct {
			name, want string
			exists     bool
			err        error
		}{
			{"real/missing", "real/missing", false, nil},
			{"real/missing/below", "real/missing/below", false, nil},
			{"link/missing", "real/missing", false, nil},
			{"link/missing/below", "real/missing/below", false, nil},
			{"link", "real", true, nil},
			{"link/sub", "real/sub", true, nil},
			{"real/sub/../missing", "real/missing", false, nil},
			{"link/../missing", "missing", false, nil},
			{"real/dangling", "real/gone", false, nil},
			{"link/dangling", "real/gone", false, nil},
			{"real/missing", "real/missing", false, nil},
			{"real", "real", true, nil},
			{"loop", "", false, syscall.ELOOP},
			{"real/file/below", "", false, syscall.ENOTDIR},
		} {
			obj, err := r.Resolve(dir + "/" + c.name)
			if c.err != nil {
				if !errors.Is(err, c.err) {
					t.Errorf("%s: %v, want %v", c.name, err, c.err)
				}
				continue
			}
			if err != nil || obj.Path != filepath.Join(dir, c.want) || obj.Exists != c.exists {
				t.Errorf("%s: %s, exists %v, %v; want %s, exists %v", c.name, obj.Path, obj.Exists, err, c.want, c.exists)
			}
		}
	}
}

// TestList: links are left out, and regular files that nobody wants; what was
// found is opened again in the folder that was listed, and only as itself.
func TestList(t *testing.T) {
	dir := host(t)
	r := New()
	defer r.Close()
	real, err := r.Resolve(dir + "/real")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wanted func(string) bool
		want   []string
	}{
		{nil, []string{".env", "file", "sub"}},
		{func(name string) bool { return name == ".env" }, []string{".env", "sub"}},
		{func(string) bool { return false }, []string{"sub"}},
	} {
		inside, err := r.List(real, c.wanted)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range inside {
			names = append(names, filepath.Base(o.Path))
			fd, err := r.Open(o)
			if err != nil {
				t.Errorf("%s: %v", o.Path, err)
				continue
			}
			_ = syscall.Close(fd)
		}
		slices.Sort(names)
		if !slices.Equal(names, c.want) {
			t.Errorf("listed %q, want %q", names, c.want)
		}
	}
	file, err := r.Find(dir + "/real/file")
	if err != nil {
		t.Fatal(err)
	}
	// What takes its place, be it a link to the very same, is not the same.
	if err := os.Rename(dir+"/real/file", dir+"/moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../moved", dir+"/real/file"); err != nil {
		t.Fatal(err)
	}
	if fd, err := r.Open(file); !errors.Is(err, ErrChanged) {
		_ = syscall.Close(fd)
		t.Errorf("opened what another object had replaced: %v", err)
	}
}
