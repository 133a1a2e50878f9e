// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/policy"
)

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

// TestBadStart: what can't work is said before anything is served.
func TestBadStart(t *testing.T) {
	f := makeFolders(t)
	null, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := New(null, f.options(t)); err == nil {
		t.Errorf("/dev/null is no listener: %v", b)
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(null, &st); err != syscall.EBADF {
		t.Errorf("the descriptor was not taken over: %v", err)
	}
	_, listener := startFiltered(t, "calls", nil)
	if b, err := New(listener, Options{}); err == nil {
		t.Errorf("there is no tree: %v", b)
	}
}

// TestEnd: Serve ends with the last process, and once only.
func TestEnd(t *testing.T) {
	f := makeFolders(t)
	s, listener := startFiltered(t, "calls", nil)
	b, err := New(listener, f.options(t))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.Serve() }()
	if o := s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(f.w+"/f"), 0o600); o.Errno != 0 {
		t.Fatal(o)
	}
	select {
	case err := <-done:
		t.Fatalf("Serve ended early: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	_ = s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patient):
		t.Fatal("Serve does not end")
	}
	if err := b.Serve(); err == nil {
		t.Error("Serve ran twice")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// TestClose: without a broker the calls fail.
func TestClose(t *testing.T) {
	f := makeFolders(t)
	s, b := startBrokered(t, f.options(t), "calls", nil)
	chmod := func() outcome { return s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(f.w+"/f"), 0o600) }
	if o := chmod(); o.Errno != 0 {
		t.Fatal(o)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if o := chmod(); o.Errno != syscall.ENOSYS {
		t.Errorf("after Close: %v", o)
	}
	unused, listener := startFiltered(t, "calls", nil)
	b, err := New(listener, f.options(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if o := unused.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(f.w+"/f"), 0o600); o.Errno != syscall.ENOSYS {
		t.Errorf("never served: %v", o)
	}
}
