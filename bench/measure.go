// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// subject is one of the things that a comparison runs.
type subject struct {
	name string
	// argv is what is started, in dir, with the environment of this process.
	argv []string
	dir  string
	// receipt is where ambit writes its receipt, if the time that counts is
	// the command's own, without what stands before and after it.
	receipt string
	// before, if any, is run in dir first, and does not count.
	before []string
	// calls is what the receipt of the last round counts.
	calls brokered
}

// once runs a subject and returns how long it took, from before the fork to
// after the wait. A subject that fails ends the comparison: its time would
// mean something else.
func (s *subject) once() (time.Duration, error) {
	if s.before != nil {
		if err := command(s.dir, s.before[0], s.before[1:]...); err != nil {
			return 0, err
		}
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Dir = s.dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = null.Close() }()
	cmd.Stdin, cmd.Stdout = null, null
	begin := time.Now()
	err = cmd.Run()
	took := time.Since(begin)
	if err != nil {
		return 0, fmt.Errorf("cannot run %s (%s): %w\n%s", s.name, strings.Join(s.argv, " "), err, stderr.String())
	}
	if s.receipt != "" {
		r, err := receiptIn(s.receipt)
		s.calls = r.Brokered
		return time.Duration(r.Durations.Run * float64(time.Millisecond)), err
	}
	return took, nil
}

// durations are what a receipt tells, in milliseconds.
type durations struct {
	Plan  float64 `json:"plan_ms"`
	Setup float64 `json:"setup_ms"`
	Run   float64 `json:"run_ms"`
	Sweep float64 `json:"sweep_ms"`
}

// brokered are the calls that a receipt counts.
type brokered struct {
	Handed   int64 `json:"handed"`
	Kernel   int64 `json:"kernel"`
	Answered int64 `json:"answered"`
}

// receipt is what a comparison needs of one.
type receipt struct {
	Durations durations `json:"durations"`
	Brokered  brokered  `json:"brokered"`
}

func receiptIn(file string) (r receipt, err error) {
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	return r, err
}

// compare runs all subjects in each round, in an order drawn anew, so that
// what the machine does meanwhile meets all of them alike. The first rounds
// only warm caches.
func compare(subjects []subject, rounds int) ([][]time.Duration, error) {
	const warm = 3
	times := make([][]time.Duration, len(subjects))
	for round := range warm + rounds {
		for _, i := range rand.Perm(len(subjects)) {
			took, err := subjects[i].once()
			if err != nil {
				return nil, err
			}
			if round >= warm {
				times[i] = append(times[i], took)
			}
		}
	}
	return times, nil
}

// spread is a median with the quartiles around it.
type spread struct{ low, median, high float64 }

func (s spread) String() string { return fmt.Sprintf("%8.2f  (%.2f - %.2f)", s.median, s.low, s.high) }

func spreadOf(values []float64) spread {
	v := slices.Sorted(slices.Values(values))
	at := func(q float64) float64 { return v[int(q*float64(len(v)-1)+0.5)] }
	return spread{at(0.25), at(0.5), at(0.75)}
}

// milliseconds turns durations into numbers.
func milliseconds(times []time.Duration) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = float64(t.Nanoseconds()) / 1e6
	}
	return out
}

// ratios divides round by round.
func ratios(of, by []time.Duration) []float64 {
	out := make([]float64, len(of))
	for i := range of {
		out[i] = float64(of[i]) / float64(by[i])
	}
	return out
}

// table prints the times of a comparison, and their ratios to the base's of
// the same round.
func table(w io.Writer, title string, subjects []subject, times [][]time.Duration, base int) {
	fmt.Fprintf(w, "\n%s (%d rounds; median, quartiles)\n", title, len(times[0]))
	fmt.Fprintf(w, "  %-34s %-28s ratio to %s\n", "", "ms", subjects[base].name)
	for i, s := range subjects {
		fmt.Fprintf(w, "  %-34s %-28s %s\n", s.name, spreadOf(milliseconds(times[i])), spreadOf(ratios(times[i], times[base])))
	}
	counts(w, subjects)
}

// counts prints how many calls went through the broker, in the last round.
func counts(w io.Writer, subjects []subject) {
	for _, s := range subjects {
		if c := s.calls; c.Handed > 0 {
			fmt.Fprintf(w, "  %s: %d calls handed over, %d of them left to the kernel, %d answered\n",
				strings.TrimSpace(s.name), c.Handed, c.Kernel, c.Answered)
		}
	}
}
