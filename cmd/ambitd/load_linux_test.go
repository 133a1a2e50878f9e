// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// loadRuns is how many runs the load test has: AMBIT_LOAD gives another number.
func loadRuns(t *testing.T) int {
	t.Helper()
	text := os.Getenv("AMBIT_LOAD")
	if text == "" {
		return 300
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		t.Fatalf("AMBIT_LOAD is %q, which is no number of runs", text)
	}
	return n
}

// holds is what a process holds.
type holds struct{ files, children, threads, rssKB int }

func (s *service) holds() (h holds) {
	s.t.Helper()
	pid := s.cmd.Process.Pid
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		s.t.Fatal(err)
	}
	h.files = len(files)
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		s.t.Fatal(err)
	}
	h.threads = len(tasks)
	for _, task := range tasks {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		h.children += len(strings.Fields(string(b)))
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			h.rssKB, _ = strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return h
}

// TestLoad: under sustained load each run has its own answer, and afterwards
// the service holds what it held before and still does everything.
func TestLoad(t *testing.T) {
	const pool, at = 2, 4
	s := newService(t, map[string]any{"pool": pool, "concurrency": at, "journal_max_bytes": 1 << 20})
	settle := func() (h holds) {
		s.client.CloseIdleConnections()
		for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			// The pool is full, and nothing else is there; twice the same.
			if last := h; true {
				if h = s.holds(); h.children == pool && h.files == last.files {
					return h
				}
			}
			if time.Now().After(end) {
				t.Fatalf("it does not settle: %+v", h)
			}
		}
	}
	runs := func(n int) {
		var all sync.WaitGroup
		var left, bad atomic.Int64
		left.Store(int64(n))
		for range at {
			all.Go(func() {
				for i := left.Add(-1); i >= 0 && bad.Load() == 0; i = left.Add(-1) {
					code := int(i) % 7
					a, err := s.try(context.Background(), "POST", "/api/execute", body(fmt.Sprintf("echo %d; exit %d", i, code), nil))
					if err != nil || a.status != 200 || a.num("exit_code") != code || a.str("stdout") != fmt.Sprintf("%d\n", i) {
						bad.Add(1)
						t.Errorf("run %d: %v %+v", i, err, a)
						return
					}
				}
			})
		}
		all.Wait()
	}
	runs(40)
	before := settle()
	n := loadRuns(t)
	begin := time.Now()
	runs(n)
	took := time.Since(begin)
	after := settle()
	t.Logf("%d runs in %s, %.1f a second; %+v before, %+v after", n, took.Round(time.Millisecond), float64(n)/took.Seconds(), before, after)
	if after.files > before.files || after.children > before.children || after.threads > before.threads+8 {
		t.Errorf("it held %+v, and holds %+v", before, after)
	}
	if after.rssKB > before.rssKB+32<<10 {
		t.Errorf("memory has grown from %d KiB to %d", before.rssKB, after.rssKB)
	}
	if a := s.ask("GET", "/health", ""); a.str("status") != "ok" || a.num("running") != 0 {
		t.Errorf("health %s", a.raw)
	}
	if a := s.ask("GET", "/metrics", ""); !strings.Contains(string(a.raw), "ambit") {
		t.Errorf("metrics %s", a.raw)
	}
}
