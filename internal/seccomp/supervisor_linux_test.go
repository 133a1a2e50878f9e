// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// TestSurrender confines a process as the supervisor does itself: what it has
// given up fails, on every thread, and Go's runtime goes on.
func TestSurrender(t *testing.T) { checkPart(t, "surrender", 12) }

func surrenderPart() {
	before := make(chan func(), 1) // to a thread that was there before
	go func() {
		runtime.LockOSThread()
		for f := range before {
			f()
		}
	}()
	probes := []probe{
		{name: "socket", do: raw("socket", afUnix, sockStream, 0), want: syscall.EPERM},
		{name: "socketpair", do: raw("socketpair", bad, 0, 0, bad), want: syscall.EPERM},
		{name: "ptrace", do: raw("ptrace", 16, 0x7fffffff, 0, 0), want: syscall.EPERM},
		{name: "execveat", do: raw("execveat", bad, bad, bad, bad, bad), want: syscall.EPERM},
		{name: "execve", do: raw("execve", bad, bad, bad), want: syscall.EPERM},
		{name: "clone", do: raw("clone", 0x10000, 0, 0, 0, 0), want: unchanged}, // a thread without CLONE_SIGHAND: EINVAL
		{name: "fork", do: raw("clone", 0x800, 0, 0, 0, 0), want: syscall.EPERM},
		{name: "unshare", do: raw("unshare", 0x80000000), want: syscall.EPERM},
		{name: "executable memory", do: raw("mmap", 0, 4096, 7, 0x22, bad, 0), want: syscall.EPERM},
		{name: "io_uring", do: raw("io_uring_setup", bad, bad), want: syscall.EPERM},
		{name: "add_key", do: raw("add_key", bad, bad, bad, 0, 0), want: syscall.EPERM},
		{name: "landlock", do: raw("landlock_restrict_self", bad, bad), want: syscall.EPERM},
		{name: "ioctl", do: raw("ioctl", bad, 0x5412, 0), want: syscall.EPERM},
		{name: "sizes", do: raw("seccomp", 3, 0, bad), want: unchanged},
		{name: "dup3", do: raw("dup3", bad, bad, bad), want: unchanged},
	}
	was := make([]syscall.Errno, len(probes))
	for i, p := range probes {
		if p.name == "fork" || p.name == "executable memory" {
			continue // they would succeed
		}
		was[i] = p.do()
	}
	filter, err := Supervisor(runtime.GOARCH)
	if err != nil {
		panic(err)
	}
	if err := sys.Surrender(filter.Bytes()); err != nil {
		panic(err)
	}
	check := func(where string) {
		for i, p := range probes {
			want := p.want
			if want == unchanged {
				want = was[i]
			} else if was[i] == want {
				fmt.Printf("note: %s: %v without the filter too\n", p.name, want)
			}
			if got := p.do(); got != want {
				fmt.Printf("%s: %v %s, want %v\n", p.name, got, where, want)
			}
		}
	}
	check("on the first thread")
	done := make(chan bool)
	before <- func() { check("on another thread"); close(done) }
	<-done
	stillRuns()
	fmt.Println("done", len(probes))
}

// stillRuns is what the runtime does for a supervisor.
func stillRuns() {
	if err := exec.Command("/bin/true").Run(); !errors.Is(err, syscall.EPERM) {
		fmt.Println("executing a program:", err)
	}
	var group sync.WaitGroup
	for range 40 {
		group.Go(func() {
			runtime.LockOSThread() // never unlocked: the thread ends too
			time.Sleep(time.Millisecond)
			_ = bytes.Repeat([]byte("x"), 1<<20)
		})
	}
	group.Wait()
	runtime.GC()
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Println("pipe:", err)
		return
	}
	time.AfterFunc(time.Millisecond, func() { _, _ = w.WriteString("through"); _ = w.Close() })
	if b, err := io.ReadAll(r); err != nil || string(b) != "through" {
		fmt.Printf("a pipe gave %q: %v\n", b, err)
	}
	name := filepath.Join(os.TempDir(), "file")
	if err := errors.Join(os.WriteFile(name, []byte("x"), 0o600), os.Truncate(name, 0), os.Chmod(name, 0o400), os.Remove(name)); err != nil {
		fmt.Println("files:", err)
	}
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		fmt.Println("its own descriptors:", err)
	}
	if _, err := os.Stat("/proc/self/fd/1"); err != nil {
		fmt.Println("by a descriptor:", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				fmt.Println("no panic of a fault")
			}
		}()
		fmt.Println(*(*int)(nil))
	}()
}
