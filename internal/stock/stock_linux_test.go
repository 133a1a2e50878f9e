// SPDX-License-Identifier: Apache-2.0

package stock

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// holderVariable makes this test a process that makes a stock, says so, and
// waits to be killed.
const holderVariable = "AMBIT_STOCK_TEST_HOLDER"

// maxFolders are enough for a test.
const maxFolders = 8

func always(string) bool { return true }

func devOf(tb testing.TB, name string) uint64 {
	tb.Helper()
	var st syscall.Stat_t
	if err := syscall.Lstat(name, &st); err != nil {
		tb.Fatal(err)
	}
	return uint64(st.Dev)
}

func parentAt(tb testing.TB, name string) Parent {
	tb.Helper()
	fd, errno := sys.Pin(sys.AtCWD, name, 0)
	if errno != 0 {
		tb.Fatal(errno)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		tb.Fatal(err)
	}
	return Parent{fd, &st}
}

func names(tb testing.TB, dir string) []string {
	tb.Helper()
	list, err := filepath.Glob(dir + "/*")
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// ours makes a folder whose group is the process's own, as the stock wants it.
func ours(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.Chown(dir, -1, os.Getegid()); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// TestPlace: a stock is kept only where nobody else gets at it, and nothing of
// it is left.
func TestPlace(t *testing.T) {
	dir := ours(t)
	dev := devOf(t, dir)
	for _, d := range []string{"open", "file-below"} {
		if err := os.Mkdir(dir+"/"+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("open", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	never := func(string) bool { return false }
	for _, c := range []struct {
		name, place string
		dev         uint64
		closed      func(string) bool
		want        int
	}{
		{"a missing folder", dir + "/a/b/c", dev, always, maxFolders},
		{"where the command has access", dir + "/granted", dev, never, 0},
		{"another file system", dir + "/other", dev + 1, always, 0},
		{"open to others", dir + "/open", dev, always, 0},
		{"a link", dir + "/link", dev, always, 0},
		{"a file", dir + "/file", dev, always, 0},
		{"below a file", dir + "/file/x", dev, always, 0},
	} {
		s := Make(maxFolders, []uint64{c.dev}, []string{c.place}, c.closed)
		n := 0
		if err := s.Each(func(int, uint64, uint64) error { n++; return nil }); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if n != c.want {
			t.Errorf("%s: %d folders in store, not %d", c.name, n, c.want)
		}
		if left := names(t, c.place); (len(left) == 0) != (c.want == 0) {
			t.Errorf("%s: there is %v", c.name, left)
		}
		s.Close()
		if _, err := os.Lstat(dir + "/a/b/c"); !os.IsNotExist(err) {
			t.Errorf("%s: the place is left: %v", c.name, err)
		}
	}
	// The next best place is taken.
	s := Make(maxFolders, []uint64{dev}, []string{dir + "/open", dir + "/second"}, always)
	if len(names(t, dir+"/second")) != 1 {
		t.Error("no stock in the second place")
	}
	s.Close()
}

// TestPut: what is put is a new folder, and where one must not be put nothing
// changes.
func TestPut(t *testing.T) {
	dir := ours(t)
	if err := os.Mkdir(dir+"/p", 0o755); err != nil {
		t.Fatal(err)
	}
	s := Make(maxFolders, []uint64{devOf(t, dir)}, []string{dir + "/place"}, always)
	defer s.Close()
	in := parentAt(t, dir+"/p")
	before := time.Now().Add(-time.Second)
	for _, mode := range []uint32{0o755, 0o700, 0o1777, 0o200} {
		if !s.Put(in, "new", mode) {
			t.Fatalf("%o: not put", mode)
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(dir+"/p/new", &st); err != nil {
			t.Fatal(err)
		}
		if st.Mode != syscall.S_IFDIR|mode || st.Nlink != 2 || int(st.Uid) != os.Geteuid() || time.Unix(st.Mtim.Unix()).Before(before) {
			t.Errorf("%o: %+v", mode, st)
		}
		if s.Put(in, "new", mode) {
			t.Error("put over another one")
		}
		if err := os.Remove(dir + "/p/new"); err != nil {
			t.Fatal(err)
		}
	}
	refuses := func(what string, in Parent, mode uint32) {
		t.Helper()
		if s.Put(in, "new", mode) {
			t.Errorf("%s: put", what)
		}
		if left := names(t, dir+"/p"); len(left) != 0 {
			t.Errorf("%s: there is %v", what, left)
		}
	}
	refuses("a mode without the right to write", in, 0o555)
	if err := os.Chmod(dir+"/p", 0o755|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	refuses("a parent that hands its group down", parentAt(t, dir+"/p"), 0o755)
	if err := os.Chmod(dir+"/p", 0o755); err != nil {
		t.Fatal(err)
	}
	gone := parentAt(t, dir+"/p")
	if err := os.Remove(dir + "/p"); err != nil {
		t.Fatal(err)
	}
	if s.Put(gone, "new", 0o755) {
		t.Error("put into a folder that is gone")
	}
	if err := os.Mkdir(dir+"/p", 0o755); err != nil {
		t.Fatal(err)
	}
	in = parentAt(t, dir+"/p")
	n := 0
	for s.Put(in, "n"+string(rune('a'+n)), 0o755) {
		n++
	}
	if want := maxFolders - 4; n != want {
		t.Errorf("%d more were put, not %d", n, want)
	}
}

// TestSweep: what a killed run has left goes with the next one, and what is in
// use, or not ours, stays.
func TestSweep(t *testing.T) {
	if place := os.Getenv(holderVariable); place != "" {
		Make(maxFolders, []uint64{devOf(t, filepath.Dir(place))}, []string{place}, always)
		if _, err := os.Stdout.WriteString("!"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		return
	}
	place := ours(t) + "/place"
	holder := exec.Command("/proc/self/exe", "-test.run=^TestSweep$")
	holder.Env = append(os.Environ(), holderVariable+"="+place)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	dev := devOf(t, place)
	mine := Make(maxFolders, []uint64{dev}, []string{place}, always)
	if n := len(names(t, place)); n != 2 {
		t.Errorf("%d runs' folders, not those of both", n)
	}
	mine.Close()
	if n := len(names(t, place)); n != 1 {
		t.Errorf("%d folders: the other run's is in use", n)
	}
	_ = holder.Process.Kill()
	_ = holder.Wait()
	if n := len(names(t, place)); n != 1 {
		t.Errorf("%d folders: a killed run leaves its own", n)
	}
	if err := os.MkdirAll(place+"/strange/d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place+"/strange/d/f", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", place+"/link"); err != nil {
		t.Fatal(err)
	}
	Make(maxFolders, []uint64{dev}, []string{place}, always).Close()
	left := names(t, place)
	if len(left) != 2 || filepath.Base(left[0]) != "link" || filepath.Base(left[1]) != "strange" {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(place + "/strange/d/f"); err != nil {
		t.Error(err)
	}
}

func BenchmarkMake(b *testing.B) {
	dir := b.TempDir()
	dev := devOf(b, dir)
	for b.Loop() {
		s := Make(maxFolders, []uint64{dev}, []string{dir + "/place"}, always)
		_ = s.Each(func(int, uint64, uint64) error { return nil })
		s.Close()
	}
}

func BenchmarkReuse(b *testing.B) {
	dir := b.TempDir()
	dev := devOf(b, dir)
	for b.Loop() {
		s := Make(maxFolders, []uint64{dev}, []string{dir + "/place"}, always)
		_ = s.Each(func(int, uint64, uint64) error { return nil })
		s.Leave()
	}
}
