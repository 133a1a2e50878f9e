// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// openFile opens a file for a child to inherit.
func openFile(tb testing.TB, name string, flags int) *os.File {
	tb.Helper()
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

// TestInherited: a descriptor counts by how it was opened, whatever its place.
func TestInherited(t *testing.T) {
	f := makeFolders(t)
	inherited := []*os.File{
		openFile(t, f.r+"/f", os.O_WRONLY), openFile(t, f.r+"/f", os.O_RDWR), openFile(t, f.r+"/f", os.O_RDONLY),
		openFile(t, f.r+"/f", syscall.O_ACCMODE), openFile(t, f.r+"/f", oPath), openFile(t, f.r, os.O_RDONLY),
	}
	s, _ := startBrokered(t, f.options(t), "calls", inherited)
	const first = 3
	for i, want := range []syscall.Errno{0, 0, syscall.EACCES, syscall.EACCES, syscall.EBADF, syscall.EACCES} {
		before := stateOf(t, inherited[i].Name())
		fd := first + i
		if o := s.call(t, syscall.SYS_FCHMOD, fd, 0o640); o.Errno != want {
			t.Errorf("fchmod of descriptor %d: %v, not %v", fd, o, want)
		}
		if want == syscall.EBADF { // the other ways take O_PATH
			want = syscall.EACCES
		}
		for _, o := range []outcome{
			s.call(t, syscall.SYS_UTIMENSAT, fd, str(""), 0, atEmptyPath),
			s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(fmt.Sprintf("/proc/self/fd/%d", fd)), 0o640),
			s.call(t, syscall.SYS_FCHOWNAT, fd, str(""), os.Getuid(), -1, atEmptyPath),
		} {
			if o.Errno != want {
				t.Errorf("descriptor %d: %v, not %v", fd, o, want)
			}
		}
		if diff := cmp.Diff(before, stateOf(t, inherited[i].Name())); (diff == "") != (want != 0) {
			t.Errorf("descriptor %d, %v: %s", fd, want, diff)
		}
	}
}

// TestTerminal: a terminal is a device. Being able to write to it is no right
// over its mode, which lets others write to it; a listed grant is.
func TestTerminal(t *testing.T) {
	master := openFile(t, "/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY)
	pty, err := ptySlave(master)
	if err != nil {
		t.Fatal(err)
	}
	slave := openFile(t, pty, os.O_RDWR|syscall.O_NOCTTY)
	f := makeFolders(t)
	w := policy.PathRule{Path: f.w, Kind: policy.Write}
	for _, c := range []struct {
		name  string
		rules []policy.PathRule
		want  syscall.Errno
	}{
		{"no rule", []policy.PathRule{w}, syscall.EACCES},
		{"built-in", []policy.PathRule{w, {Path: pty, Kind: policy.Write, Builtin: true}}, syscall.EACCES},
		{"listed", []policy.PathRule{w, {Path: pty, Kind: policy.Write}}, 0},
	} {
		s, _ := startBrokered(t, Options{Tree: tree(t, c.rules...)}, "calls", []*os.File{slave})
		before := stateOf(t, pty)
		if o := s.call(t, syscall.SYS_FCHMOD, 3, 0o600); o.Errno != c.want {
			t.Errorf("%s, by descriptor: %v", c.name, o)
		}
		if o := s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(pty), 0o600); o.Errno != c.want {
			t.Errorf("%s, by name: %v", c.name, o)
		}
		if same := cmp.Equal(before, stateOf(t, pty)); same != (c.want != 0) {
			t.Errorf("%s: unchanged %v", c.name, same)
		}
	}
}

// TestRemoved: an object without a name is judged by its last place.
func TestRemoved(t *testing.T) {
	f := makeFolders(t)
	var files []*os.File
	for _, name := range []string{f.w + "/gone", f.r + "/gone"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, openFile(t, name, os.O_RDONLY), openFile(t, name, os.O_RDWR))
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	// A name that looks like one that is gone is a name like any other.
	if err := os.WriteFile(f.r+"/f (deleted)", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// Another name is left: the object is where that is, but is known by the
	// lost one.
	if err := os.WriteFile(f.r+"/two", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(f.r+"/two", f.r+"/names"); err != nil {
		t.Fatal(err)
	}
	files = append(files, openFile(t, f.r+"/f (deleted)", os.O_RDONLY), openFile(t, f.r+"/two", os.O_RDONLY))
	if err := os.Remove(f.r + "/two"); err != nil {
		t.Fatal(err)
	}
	s, _ := startBrokered(t, f.options(t), "calls", files)
	for i, want := range []syscall.Errno{0, 0, syscall.EACCES, 0, syscall.EACCES, syscall.EACCES} {
		for name, o := range map[string]outcome{
			"fchmod": s.call(t, syscall.SYS_FCHMOD, 3+i, 0o640),
			"chmod":  s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(fmt.Sprintf("/dev/fd/%d", 3+i)), 0o640),
		} {
			if o.Errno != want {
				t.Errorf("%s of descriptor %d: %v, not %v", name, 3+i, o, want)
			}
		}
	}
}

// playFamily runs another role as a child of its own, and keeps its
// descriptors.
func playFamily(args []string) error {
	cmd := exec.Command("/proc/self/exe", args[1:]...)
	cmd.Env = append(os.Environ(), "unused=")
	if err := os.Setenv(roleVariable, args[0]); err != nil {
		return err
	}
	cmd.Env = os.Environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// TestProcLinks: what /proc/PID leads to, of the caller's family and of
// processes outside.
func TestProcLinks(t *testing.T) {
	f := makeFolders(t)
	t.Chdir(f.w)
	held := openFile(t, f.w+"/f", os.O_RDONLY)
	o := f.options(t)
	o.Guard = os.Getpid()
	s, _ := startBrokered(t, o, "family", []*os.File{held}, "calls")
	parent, us := s.cmd.Process.Pid, os.Getpid()
	outside, err := os.Open(f.w + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = outside.Close() }()
	for _, c := range []struct {
		path string
		want syscall.Errno
	}{
		{fmt.Sprintf("/proc/%d/fd/3", parent), 0},
		{fmt.Sprintf("/proc/%d/task/%d/fd/3", parent, parent), 0},
		{fmt.Sprintf("/proc/%d/cwd/f", parent), 0},
		{fmt.Sprintf("/proc/%d/root%s/f", parent, f.w), 0},
		{fmt.Sprintf("/proc/%d/exe", parent), syscall.EACCES}, // no write there
		{fmt.Sprintf("/proc/%d/fd/%d", us, outside.Fd()), syscall.EACCES},
		{fmt.Sprintf("/proc/%d/cwd/f", us), syscall.EACCES},
		{fmt.Sprintf("/proc/%d/root%s/f", us, f.w), syscall.EACCES},
		{"/proc/1/cwd/f", syscall.EACCES},
		{fmt.Sprintf("/proc/%d/fd/99", parent), syscall.ENOENT},
		{fmt.Sprintf("/proc/%d/fd/3/", parent), syscall.ENOTDIR},
		{"/proc/99999999/cwd", syscall.ENOENT},
		{"/proc/self/cwd/f", 0},
		{"/proc/self/nothing", syscall.ENOENT},
		{"/proc/mounts", syscall.EACCES},
	} {
		if o := s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(c.path), 0o640); o.Errno != c.want {
			t.Errorf("%s: %v, not %v", c.path, o, c.want)
		}
	}
	// Without a launcher to descend from, everybody else is outside.
	alone, _ := startBrokered(t, f.options(t), "family", []*os.File{held}, "calls")
	for path, want := range map[string]syscall.Errno{
		fmt.Sprintf("/proc/%d/fd/3", alone.cmd.Process.Pid): syscall.EACCES, "/proc/self/fd/0": 0,
	} {
		if o := alone.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(path), 0o640); o.Errno != want {
			t.Errorf("%s: %v, not %v", path, o, want)
		}
	}
}

// TestUndumpable: into a process that may not be looked at the broker does
// not look.
func TestUndumpable(t *testing.T) {
	f := makeFolders(t)
	s, _ := startBrokered(t, f.options(t), "calls", nil)
	chmod := func() outcome { return s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(f.w+"/f"), 0o640) }
	if o := chmod(); o.Errno != 0 {
		t.Fatal(o)
	}
	const setDumpable = 4 // PR_SET_DUMPABLE
	for dumpable, want := range []syscall.Errno{syscall.EACCES, 0} {
		if o := s.call(t, syscall.SYS_PRCTL, setDumpable, dumpable, 0, 0, 0); o.Errno != 0 {
			t.Fatal(o)
		}
		if o := chmod(); o.Errno != want {
			t.Errorf("dumpable %d: %v", dumpable, o)
		}
	}
}

// TestThreads: a thread may have a working folder and descriptors of its own
// (unshare(2)).
func TestThreads(t *testing.T) {
	f := makeFolders(t)
	for _, dir := range []string{f.w, f.r} {
		if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "d", "g"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := startBrokered(t, f.options(t), "threads", nil, f.w, f.r)
	for _, line := range []string{
		"leader f <nil>", "leader g no such file or directory", "thread g <nil>", "thread f no such file or directory",
		"leader fd <nil>", "thread fd permission denied",
	} {
		s.says(t, line)
	}
}

// playThreads: w, r.
func playThreads(args []string) error {
	runtime.LockOSThread()
	if err := os.Chdir(args[0]); err != nil {
		return err
	}
	writable, err := syscall.Open(args[0]+"/f", syscall.O_RDWR, 0)
	if err != nil {
		return err
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- parted(args, writable)
		<-done
		for _, name := range []string{"g", "f"} {
			fmt.Println("thread", name, syscall.Fchmodat(sys.AtCWD, name, 0o640, 0))
		}
		done <- nil
		<-done
		fmt.Println("thread fd", syscall.Fchmod(writable, 0o640))
		done <- nil
	}()
	if err := <-done; err != nil {
		return err
	}
	for _, name := range []string{"f", "g"} {
		fmt.Println("leader", name, syscall.Fchmodat(sys.AtCWD, name, 0o640, 0))
	}
	done <- nil
	<-done
	fmt.Println("leader fd", syscall.Fchmod(writable, 0o640))
	done <- nil
	return <-done
}

// parted gives the thread a table and a folder of its own, in which the
// number stands for a file that may not be changed.
func parted(args []string, number int) error {
	if err := syscall.Unshare(syscall.CLONE_FS | syscall.CLONE_FILES); err != nil {
		return err
	}
	if err := syscall.Chdir(args[0] + "/d"); err != nil {
		return err
	}
	fd, err := syscall.Open(args[1]+"/d/g", syscall.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return syscall.Dup3(fd, number, 0)
}

// ptySlave unlocks the other end of a terminal and names it (pty(7)).
func ptySlave(master *os.File) (string, error) {
	const lock, number = 0x40045431, 0x80045430 // TIOCSPTLCK, TIOCGPTN
	var off, n int32
	for _, c := range []struct {
		request uintptr
		arg     *int32
	}{{lock, &off}, {number, &n}} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), c.request, uintptr(unsafe.Pointer(c.arg))); errno != 0 {
			return "", errno
		}
	}
	return "/dev/pts/" + strconv.Itoa(int(n)), nil
}
