// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// tree makes a path tree of existing folders and files.
func tree(tb testing.TB, rules ...policy.PathRule) *plan.Tree {
	tb.Helper()
	p, err := plan.Compile(&policy.Resolved{Rules: rules, WorkDir: rules[0].Path}, "", asNamed{})
	if err != nil {
		tb.Fatal(err)
	}
	return p.Tree
}

// asNamed takes paths as canonical already.
type asNamed struct{}

func (a asNamed) Find(name string) (plan.Object, error) { return a.Resolve(name) }

func (asNamed) Resolve(path string) (plan.Object, error) {
	return plan.Object{Path: path, Exists: true, Dir: true}, nil
}

// folders are a writable and a readable one.
type folders struct{ w, r string }

func makeFolders(tb testing.TB) folders {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	f := folders{filepath.Join(dir, "w"), filepath.Join(dir, "r")}
	for _, d := range []string{f.w, f.r} {
		if err := os.Mkdir(d, 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "f"), []byte("x"), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return f
}

func (f folders) options(tb testing.TB) Options {
	return Options{Tree: tree(tb, policy.PathRule{Path: f.w, Kind: policy.Write}, policy.PathRule{Path: f.r, Kind: policy.Read})}
}

func mode(tb testing.TB, name string) os.FileMode {
	tb.Helper()
	st, err := os.Lstat(name)
	if err != nil {
		tb.Fatal(err)
	}
	return st.Mode().Perm()
}

func TestChmod(t *testing.T) {
	f := makeFolders(t)
	s, b := startBrokered(t, f.options(t), "calls", nil)
	if o := s.call(t, syscall.SYS_FCHMODAT, -100, str(f.w+"/f"), 0o600); o.Errno != 0 {
		t.Errorf("writable: %v", o)
	}
	if m := mode(t, f.w+"/f"); m != 0o600 {
		t.Errorf("writable: mode %v", m)
	}
	if o := s.call(t, syscall.SYS_FCHMODAT, -100, str(f.r+"/f"), 0o600); o.Errno != syscall.EACCES {
		t.Errorf("readable: %v", o)
	}
	if m := mode(t, f.r+"/f"); m != 0o644 {
		t.Errorf("readable: mode %v", m)
	}
	list, dropped := b.Denials()
	if len(list) != 1 || dropped != 0 || list[0].Object != f.r+"/f" {
		t.Errorf("denials %+v, %d", list, dropped)
	}
}

func BenchmarkChmod(b *testing.B) {
	f := makeFolders(b)
	b.Run("brokered", func(b *testing.B) {
		s, _ := startBrokered(b, f.options(b), "calls", nil)
		_ = s
	})
}
