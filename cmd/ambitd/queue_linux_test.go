// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// waiting waits until so many runs wait for a place.
func (s *service) waiting(n int) {
	s.t.Helper()
	for end := deadline(); s.ask("GET", "/health", "").num("waiting") != n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not %d runs wait: %s", n, s.ask("GET", "/health", "").raw)
		}
	}
}

// allow makes the file that the runs of these tests wait for.
func (s *service) allow(name string) {
	s.t.Helper()
	if err := os.WriteFile(s.dir+"/projects/p/"+name, nil, 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// TestSerialize: runs of one project that ask for it never overlap; those of
// two projects do, and one that does not ask for it waits for none.
func TestSerialize(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 8})
	serial := map[string]any{"serialize": true}
	// mkdir(2) fails if another run is in between.
	const alone = `mkdir alone && i=0; while [ $i -lt 20 ]; do i=$((i+1)); :; done; sleep 0.02; rmdir alone && echo x >>count`
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if a := s.run(alone, serial); a.num("exit_code") != 0 {
				t.Errorf("it was not alone: %s", a.raw)
			}
		})
	}
	wg.Wait()
	if b, err := os.ReadFile(s.dir + "/projects/p/count"); err != nil || len(b) != 16 {
		t.Errorf("%q, %v", b, err)
	}
	// p runs until it is allowed to end; meanwhile q, and p without the wish.
	wg.Go(func() {
		if a := s.run("touch begun; until [ -e go ]; do sleep 0.02; done", serial); a.num("exit_code") != 0 {
			t.Errorf("%s", a.raw)
		}
	})
	s.waitFor("begun")
	if a := s.run("echo two", map[string]any{"serialize": true, "project": "q"}); a.str("stdout") != "two\n" {
		t.Errorf("another project: %s", a.raw)
	}
	if a := s.run("echo three", nil); a.str("stdout") != "three\n" {
		t.Errorf("not serialised: %s", a.raw)
	}
	wg.Go(func() { s.run("touch second", serial) })
	s.waiting(1)
	if _, err := os.Stat(s.dir + "/projects/p/second"); err == nil {
		t.Error("two ran at once")
	}
	s.allow("go")
	wg.Wait()
	s.waitFor("second")
}

// TestSerializeBound: runs that wait for their project's turn count as waiting,
// though there are places.
func TestSerializeBound(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 8, "queue": 2})
	serial := map[string]any{"serialize": true}
	var wg sync.WaitGroup
	wg.Go(func() { s.run("touch begun; until [ -e go ]; do sleep 0.02; done", serial) })
	s.waitFor("begun")
	for range 2 {
		wg.Go(func() {
			if a := s.run("true", serial); a.status != 200 {
				t.Errorf("%s", a.raw)
			}
		})
	}
	s.waiting(2)
	if a := s.run("touch ran", serial); a.status != 429 || a.str("code") != "BUSY" {
		t.Errorf("the third that waits: %d %s", a.status, a.raw)
	}
	if a := s.run("echo free", nil); a.str("stdout") != "free\n" {
		t.Errorf("one that need not wait: %s", a.raw)
	}
	s.allow("go")
	wg.Wait()
	if _, err := os.Stat(s.dir + "/projects/p/ran"); err == nil {
		t.Error("what was refused has run")
	}
}

// TestQueueTimeout: who has waited for too long is told to come again, and has
// not run.
func TestQueueTimeout(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 1, "queue_timeout": "200ms"})
	var wg sync.WaitGroup
	wg.Go(func() { s.run("touch begun; until [ -e go ]; do sleep 0.02; done", nil) })
	s.waitFor("begun")
	for _, serialize := range []bool{false, true} {
		began := time.Now()
		a := s.run("touch ran", map[string]any{"serialize": serialize})
		if a.status != 429 || a.str("code") != "BUSY" || !strings.Contains(a.str("detail"), "no run ended in time") || time.Since(began) < 200*time.Millisecond {
			t.Errorf("%d %s after %s", a.status, a.raw, time.Since(began))
		}
		if n, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || n < 1 {
			t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
		}
	}
	s.allow("go")
	wg.Wait()
	if _, err := os.Stat(s.dir + "/projects/p/ran"); err == nil {
		t.Error("what was refused has run")
	}
	if a := s.run("echo free", nil); a.str("stdout") != "free\n" {
		t.Errorf("the place is not free: %s", a.raw)
	}
}

// TestToldBeforeTheQueue: what can't be run does not wait to be told so; and
// what can't be run any more after its wait is not run.
func TestToldBeforeTheQueue(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 1, "queue": 1})
	var wg sync.WaitGroup
	wg.Go(func() { s.run("touch begun; until [ -e go ]; do sleep 0.02; done", nil) })
	s.waitFor("begun")
	wg.Go(func() {
		if a := s.run("touch ran", map[string]any{"project": "q"}); a.status != 404 || a.str("code") != "PROJECT_NOT_FOUND" {
			t.Errorf("a project that went away: %d %s", a.status, a.raw)
		}
	})
	s.waiting(1)
	for want, more := range map[int]map[string]any{
		404: {"project": "no"}, 400: {"secrets": []string{"NO"}}, 422: {"folder_guard": map[string]any{"reads": 1}}, 429: nil,
	} {
		if a := s.run("touch ran", more); a.status != want {
			t.Errorf("%v: %d %s", more, a.status, a.raw)
		}
	}
	if err := os.Rename(s.dir+"/projects/q", s.dir+"/q"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(s.dir+"/q", s.dir+"/projects/q"); err != nil {
		t.Fatal(err)
	}
	s.allow("go")
	wg.Wait()
	for _, name := range []string{"/q/ran", "/projects/p/ran"} {
		if _, err := os.Stat(s.dir + name); err == nil {
			t.Errorf("%s: it ran", name)
		}
	}
}

// TestShuttingDown: who waits for a place when the service ends is told so, and
// has not run.
func TestShuttingDown(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 1})
	first, second := make(chan *answer, 1), make(chan *answer, 1)
	ask := func(command string, to chan *answer) {
		a, _ := s.try(t.Context(), "POST", "/api/execute", body(command, nil))
		to <- a
	}
	go ask("touch begun; sleep 1000", first)
	s.waitFor("begun")
	go ask("touch ran", second)
	s.waiting(1)
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
	if a := <-first; a == nil || a.status != 200 || a.json["cancelled"] != true {
		t.Errorf("the one that ran: %+v", a)
	}
	if a := <-second; a == nil || a.status != 503 || a.str("code") != "SHUTTING_DOWN" {
		t.Errorf("the one that waited: %+v", a)
	}
	s.missing("ran")
}
