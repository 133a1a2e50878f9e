// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/runner"
)

// serviceRuns is how many commands each line of the table runs.
const serviceRuns = 300

// service measures what a run of the service takes, against a bare fork and
// exec from the same process: one after the other, with pauses in which the
// supervisors that wait are replaced, and as many at once as can be.
func (b *bench) service() error {
	r, err := runner.New(runner.Config{Supervisor: b.ambit})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	bare := func() error { return exec.Command(nothing).Run() }
	run := func() error {
		q := &runner.Request{Argv: []string{nothing}, Dir: b.project, Environ: os.Environ()}
		res, err := r.Run(context.Background(), q)
		if err == nil && res.ExitCode != 0 {
			err = fmt.Errorf("it exited with %d", res.ExitCode)
		}
		return err
	}
	fmt.Fprintf(b.out, "\n%s by the service's runner (%d runs each)\n  %-34s %9s %9s %9s %11s %s\n",
		nothing, serviceRuns, "", "p50 ms", "p99 ms", "runs/s", "CPU ms/run", "ratio of p50")
	for _, c := range []struct {
		at    int
		pause time.Duration
	}{{1, 40 * time.Millisecond}, {1, 0}, {2, 0}, {8, 0}} {
		base, err := load(c.at, c.pause, bare)
		if err != nil {
			return err
		}
		ours, err := load(c.at, c.pause, run)
		if err != nil {
			return err
		}
		how := fmt.Sprintf("%d at once", c.at)
		if c.pause > 0 {
			how = fmt.Sprintf("one each %d ms more", c.pause.Milliseconds())
		}
		base.print(b, "bare, "+how, base)
		ours.print(b, "ambit, "+how, base)
	}
	return nil
}

// loaded is how runs under load went.
type loaded struct {
	p50, p99  time.Duration
	perSecond float64
	cpu       time.Duration // of this process and its children, for each run
}

func (l *loaded) print(b *bench, name string, base *loaded) {
	fmt.Fprintf(b.out, "  %-34s %9.2f %9.2f %9.1f %11.2f %.2f\n", name, float64(l.p50.Microseconds())/1000, float64(l.p99.Microseconds())/1000,
		l.perSecond, float64(l.cpu.Microseconds())/1000, float64(l.p50)/float64(base.p50))
}

// load runs something many times, some at once, with a pause after each.
func load(at int, pause time.Duration, run func() error) (*loaded, error) {
	for range 2 * at { // caches, and the pool
		if err := run(); err != nil {
			return nil, err
		}
	}
	var (
		all   sync.WaitGroup
		left  atomic.Int64
		mu    sync.Mutex
		times []time.Duration
		bad   error
	)
	left.Store(serviceRuns)
	begin, used := time.Now(), cpuTime()
	for range at {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				t := time.Now()
				err := run()
				took := time.Since(t)
				mu.Lock()
				times = append(times, took)
				if err != nil {
					bad = err
				}
				mu.Unlock()
				time.Sleep(pause)
			}
		})
	}
	all.Wait()
	took := time.Since(begin)
	slices.Sort(times)
	return &loaded{
		p50: times[len(times)/2], p99: times[len(times)*99/100],
		perSecond: serviceRuns / took.Seconds(), cpu: (cpuTime() - used) / serviceRuns,
	}, bad
}

// cpuTime is what this process and its ended children have used.
func cpuTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
