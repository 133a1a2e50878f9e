// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/runner"
)

// much is more output than anybody may hold.
const much = 200 << 20

// slowWriter takes its time, and notes what it was given.
type slowWriter struct {
	pause time.Duration
	taken atomic.Int64
	wait  chan struct{} // if not nil: every Write waits for its end
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if w.wait != nil {
		<-w.wait
	}
	time.Sleep(w.pause)
	w.taken.Add(int64(len(b)))
	return len(b), nil
}

// TestMuchOutput: however much a command writes and however slow who reads it
// is, the command ends, memory stays bounded, and all is counted.
func TestMuchOutput(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Patience = 20 * time.Millisecond })
	stalled := &slowWriter{wait: make(chan struct{})}
	defer close(stalled.wait)
	for name, w := range map[string]*slowWriter{"quick": {}, "slow": {pause: 2 * time.Millisecond}, "stalled": stalled} {
		q := shell(t, `head -c 209715200 /dev/zero`)
		q.Stdout = w
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		res, err := r.Run(ctx, q)
		cancel()
		runtime.ReadMemStats(&after)
		if err != nil || res.ExitCode != 0 || res.Receipt.Outcome == nil || res.Receipt.Outcome.Stdout == nil {
			t.Fatalf("%s: %+v %v", name, res, err)
		}
		o := *res.Receipt.Outcome.Stdout
		if o.Bytes != much {
			t.Errorf("%s: %d bytes were counted, not %d", name, o.Bytes, much)
		}
		// What a writer holds when the run ends is neither. One that is slow
		// comes to it, however busy the machine is.
		for end := time.Now().Add(patience); name != "stalled" && w.taken.Load()+o.Discarded < much && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if taken := w.taken.Load(); name != "stalled" && taken+o.Discarded != much || name == "stalled" && o.Discarded < much-(1<<20) {
			t.Errorf("%s: %d were taken and %d discarded", name, taken, o.Discarded)
		}
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
			t.Errorf("%s: the heap has grown by %d bytes", name, grown)
		}
	}
}

// held are the descriptors and children of this process.
func held(t *testing.T) (descriptors, processes int) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files), len(children(t, os.Getpid()))
}

// runs is how many runs must leave nothing.
func runs() int {
	if os.Getenv("AMBIT_SLOW") != "" { // an emulated processor
		return 40
	}
	return 400
}

// TestNothingGrows: after many runs at once the process holds what it held
// before: descriptors, children, goroutines, and threads, which it needs for
// what waits at the same time but not for what is over.
func TestNothingGrows(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Pool = 2 })
	many := func(n int) {
		var all sync.WaitGroup
		var left atomic.Int64
		left.Store(int64(n))
		for range 4 {
			all.Go(func() {
				for left.Add(-1) >= 0 {
					q := shell(t, `cat; echo y >&2; (setsid true &)`)
					q.Stdin = strings.NewReader("x")
					var out, errs bytes.Buffer
					q.Stdout, q.Stderr = &out, &errs
					if res, err := r.Run(t.Context(), q); err != nil || res.ExitCode != 0 || out.String() != "x" || errs.String() != "y\n" {
						t.Errorf("%+v %v %q %q", res, err, &out, &errs)
						return
					}
				}
			})
		}
		all.Wait()
	}
	// The pool is full again, and what ends beside the runs has ended.
	settle := func() (files, kids, routines, threads int) {
		until(t, "the pool is full", func() bool { _, n := held(t); return n == 2 })
		until(t, "goroutines settle", func() bool {
			n := runtime.NumGoroutine()
			time.Sleep(20 * time.Millisecond)
			return n == runtime.NumGoroutine()
		})
		files, kids = held(t)
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return files, kids, runtime.NumGoroutine(), len(tasks)
	}
	many(20)
	files, kids, routines, threads := settle()
	many(runs())
	files2, kids2, routines2, threads2 := settle()
	if files2 > files || kids2 > kids || routines2 > routines {
		t.Errorf("descriptors %d -> %d, children %d -> %d, goroutines %d -> %d", files, files2, kids, kids2, routines, routines2)
	}
	if threads2 > threads+8 {
		t.Errorf("threads %d -> %d", threads, threads2)
	}
}
