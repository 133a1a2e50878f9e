// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// TestSpelled: where the file system knows one name for each object, all names
// are the listed ones, however odd.
func TestSpelled(t *testing.T) {
	dir, host := t.TempDir(), New()
	defer host.Close()
	for _, name := range []string{"a", "A", "GIT~1", "\u00e9", "e\u0301", "dot.", "plain", "x~1~"} {
		if err := os.WriteFile(dir+"/"+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(dir+"/plain", dir+"/PLAIN"); err != nil { // an object with two listed names
		t.Fatal(err)
	}
	for _, name := range []string{"a", "A", "GIT~1", "\u00e9", "e\u0301", "dot.", "plain", "PLAIN", "x~1~", "missing", "MISSIN~1", ""} {
		if err := host.Spelled(dir + "/" + name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestNotListed: /proc finds threads by their numbers, which it does not list.
func TestNotListed(t *testing.T) {
	ids := make(chan int)
	stop := make(chan struct{})
	defer close(stop)
	for range 2 { // one of them at least is not the first thread
		go func() {
			runtime.LockOSThread()
			ids <- syscall.Gettid()
			<-stop
		}()
	}
	thread := <-ids
	if other := <-ids; thread == os.Getpid() {
		thread = other
	}
	name := strconv.Itoa(thread)
	if _, err := os.Stat("/proc/" + name); err != nil {
		t.Fatal(err)
	}
	if err := lists("/proc", name); !errors.Is(err, ErrSpelling) {
		t.Errorf("a thread: %v", err)
	}
	if err := lists("/proc", strconv.Itoa(os.Getpid())); err != nil {
		t.Errorf("the process: %v", err)
	}
}
