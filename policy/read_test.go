// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// within fails the test if f takes so long that it must be waiting.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("still waiting after %v", limit)
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "p.json"), everything)
	link := filepath.Join(dir, "link")
	must(t, os.Symlink("p.json", link))
	full := write(t, filepath.Join(dir, "full.json"), "{}"+strings.Repeat(" ", MaxFileSize-2))
	t.Chdir(dir)
	write(t, filepath.Join(dir, "-"), "{}")
	for path, want := range map[string]Policy{file: everythingDecoded(), link: everythingDecoded(), full: {}, "-": {}} {
		got, err := ReadFile(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := cmp.Diff(Layer{path, want, absolute(t, path)}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestReadFileErrors(t *testing.T) {
	// Not t.TempDir: a socket's path may have 107 bytes at most (unix(7)).
	dir, err := os.MkdirTemp("", "policy")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }

	write(t, at("empty"), "")
	write(t, at("bad"), "{\n  \"strict\": 1}")
	write(t, at("over"), "{}"+strings.Repeat(" ", MaxFileSize-1))
	big := write(t, at("big"), "")
	must(t, os.Truncate(big, 100<<20))
	must(t, os.Mkdir(at("dir"), 0o700))
	must(t, syscall.Mkfifo(at("fifo"), 0o600))
	must(t, os.Symlink("loop2", at("loop")))
	must(t, os.Symlink("loop", at("loop2")))
	must(t, os.Symlink("nowhere", at("dangling")))
	socket, err := net.Listen("unix", at("socket"))
	must(t, err)
	defer socket.Close()

	const start = ": cannot read the policy file: "
	for _, c := range []struct {
		path, want string
		errno      error
	}{
		{at("missing"), start + "it does not exist; check the path", fs.ErrNotExist},
		{at("dangling"), start + "it does not exist; check the path", fs.ErrNotExist},
		{at("loop"), start + "its symbolic links form a loop; point them at a file", syscall.ELOOP},
		{at("empty/x"), start + "a part of its path is not a directory; check the path", syscall.ENOTDIR},
		{at("dir"), start + "it is a directory; name a file in it", nil},
		{at("fifo"), start + "it is a FIFO; write the policy to a regular file", nil},
		{at("socket"), start + "it is a socket; write the policy to a regular file", nil},
		{"/dev/null", start + "it is a device; write the policy to a regular file", nil},
		{at("big"), start + "it has 104857600 bytes, and at most 1048576 are read; check that it is the right file", nil},
		{at("over"), start + "it has 1048577 bytes, and at most 1048576 are read; check that it is the right file", nil},
		{at(strings.Repeat("x", 300)), start + "file name too long", syscall.ENAMETOOLONG},
		{at("empty"), ":1:1: the file is empty; write at least {}", nil},
		{at("bad"), ":2:13: strict must be true or false, not a number", nil},
	} {
		within(t, 10*time.Second, func() {
			l, err := ReadFile(c.path)
			if err == nil || err.Error() != c.path+c.want {
				t.Errorf("\n got %v\nwant %s", err, c.path+c.want)
			}
			if !errors.Is(err, ErrInvalid) || c.errno != nil && !errors.Is(err, c.errno) {
				t.Errorf("%v does not match ErrInvalid and %v", err, c.errno)
			}
			if !cmp.Equal(l, Layer{}) {
				t.Errorf("%s: got a layer beside the error", c.path)
			}
		})
	}
	if _, err := ReadFile(""); err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty name: got %v", err)
	}
	if _, err := ReadFile("a\x00b"); err == nil || err.Error() != `"a\x00b": cannot read the policy file: invalid argument` {
		t.Errorf("NUL in the name: got %v", err)
	}
}

// A large file is refused for its size, and not after it was read.
func TestReadFileDoesNotReadLargeFiles(t *testing.T) {
	big := write(t, filepath.Join(t.TempDir(), "big"), "")
	must(t, os.Truncate(big, 100<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadFile(big); err == nil {
		t.Fatal("got no error")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > MaxFileSize/2 {
		t.Errorf("took %d bytes of memory", used)
	}
}

// The descriptor is judged, whatever stood under the name a moment before.
func TestReadOpenJudgesTheDescriptor(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	must(t, syscall.Mkfifo(fifo, 0o600))
	big := write(t, filepath.Join(dir, "big"), "")
	must(t, os.Truncate(big, MaxFileSize+1))
	for path, want := range map[string]string{fifo: "FIFO", dir: "directory", "/dev/zero": "device", big: "1048577 bytes"} {
		within(t, 10*time.Second, func() {
			f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if data, err := readOpen("p", f); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: read %d bytes, got %v", path, len(data), err)
			}
		})
	}
}

// In the child process of TestReadFilePermission: the file to read.
const readVariable = "AMBIT_TEST_READ_FILE"

func TestReadFilePermission(t *testing.T) {
	if path := os.Getenv(readVariable); path != "" {
		_, err := ReadFile(path)
		if err == nil || !errors.Is(err, syscall.EACCES) || !strings.HasSuffix(err.Error(),
			": permission denied; let this user read it and enter its folders") {
			t.Errorf("got %v", err)
		}
		return
	}
	file := write(t, filepath.Join(t.TempDir(), "p.json"), "{}")
	if _, err := ReadFile(file); err != nil {
		t.Fatal(err)
	}
	must(t, os.Chmod(file, 0))
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^TestReadFilePermission$")
	if os.Geteuid() == 0 {
		// Root may read it all the same, so another user tries. He cannot
		// reach the test binary by its name, but what the child is running.
		cmd = exec.Command("/proc/self/exe", cmd.Args[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = "/"
	}
	cmd.Env = append(os.Environ(), readVariable+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	abs, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
