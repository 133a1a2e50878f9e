// SPDX-License-Identifier: Apache-2.0

package child

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// made makes a folder as a run does and fills it.
func made(t *testing.T, fill func(dir string)) (*os.File, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tmp")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	fill(dir)
	return f, dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRemoveTmp(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(outside+"/kept", nil, 0o600))
	for name, fill := range map[string]func(dir string){
		"empty": func(string) {},
		"files and links": func(dir string) {
			must(t, os.WriteFile(dir+"/file", nil, 0))
			must(t, os.Symlink(outside, dir+"/link"))
			must(t, os.MkdirAll(dir+"/a/b", 0o700))
			must(t, os.Symlink(outside, dir+"/a/b/link"))
		},
		"rights taken away": func(dir string) {
			must(t, os.MkdirAll(dir+"/a/b/c", 0o700))
			must(t, os.WriteFile(dir+"/a/b/c/file", nil, 0))
			for _, d := range []string{"/a/b/c", "/a/b", "/a", ""} {
				must(t, os.Chmod(dir+d, 0))
			}
		},
		"names that moving uses": func(dir string) {
			must(t, os.MkdirAll(dir+"/.ambit-1/.ambit-2/x", 0o700))
			must(t, os.MkdirAll(dir+"/.ambit-2/.ambit-1/x", 0o700))
		},
		"deep": func(dir string) {
			at, err := os.OpenRoot(dir)
			must(t, err)
			for range 3000 {
				must(t, at.Mkdir("deep", 0o500|0o200))
				next, err := at.OpenRoot("deep")
				must(t, err)
				_ = at.Close()
				at = next
			}
			_ = at.Close()
		},
		"wide": func(dir string) {
			for i := range 2000 {
				must(t, os.MkdirAll(fmt.Sprintf("%s/%d/%d", dir, i%50, i), 0o700))
			}
		},
		"gone": func(dir string) { must(t, os.Remove(dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			f, dir := made(t, fill)
			if err := RemoveTmp(f, dir); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(dir); !os.IsNotExist(err) {
				t.Errorf("%s is left: %v", dir, err)
			}
			if _, err := os.Stat(outside + "/kept"); err != nil {
				t.Error("a link was followed: ", err)
			}
		})
	}
}

// TestRemoveTmpSwapped puts something else under the folder's name, as a
// command can where the name lies in its project.
func TestRemoveTmpSwapped(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(outside+"/kept", nil, 0o600))
	must(t, os.Chmod(outside, 0o755))
	f, dir := made(t, func(dir string) {
		must(t, os.WriteFile(dir+"/file", nil, 0o600))
		must(t, os.Rename(dir, dir+"-moved"))
		must(t, os.Symlink(outside, dir))
	})
	if err := RemoveTmp(f, dir); err == nil {
		t.Error("nobody is told that the folder is left")
	}
	st, err := os.Stat(outside)
	if _, kept := os.Stat(outside + "/kept"); err != nil || kept != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("the link's target was touched: %v %v %v", st.Mode(), err, kept)
	}
	if left, _ := os.ReadDir(dir + "-moved"); len(left) != 0 {
		t.Errorf("the moved folder still holds %v", left)
	}
}

func TestSpecRoundTrip(t *testing.T) {
	s := &Spec{
		Files: []string{"/bin/\xff sh"}, Argv: []string{"sh", "", "\x01\n"}, Env: []string{"A=1", "B="},
		Tmp: "/tmp/x", Limits: []Rlimit{{syscall.RLIMIT_CORE, 1, 1 << 63}}, RestrictFlags: 2,
		Filter: []byte{1, 2, 3, 4, 5, 6, 7, 8}, FilterFlags: 40, Guard: InheritGuard,
	}
	b := s.Encode()
	got, err := Decode(b)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(s) {
		t.Errorf("%+v, %v\nwant %+v", got, err, s)
	}
	for n := range len(b) {
		if _, err := Decode(b[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes it is still taken", n, len(b))
		}
	}
	if _, err := Decode(append(b, 0)); err == nil {
		t.Error("bytes behind the end are taken")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Spec{Files: []string{"a"}, Argv: []string{"b"}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(s.Encode())
		if err != nil || fmt.Sprint(again) != fmt.Sprint(s) {
			t.Errorf("%+v, %v\nwant %+v", again, err, s)
		}
	})
}
