// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// bounds are the upper ends of the durations' buckets, in seconds.
var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}

// metrics counts. Its labels come from this package alone, so their number is
// bounded whatever is sent.
type metrics struct {
	mu       sync.Mutex
	outcomes map[string]int64
	refusals map[string]int64
	denials  int64
	buckets  []int64
	count    int64
	seconds  float64
}

func newMetrics() *metrics {
	return &metrics{outcomes: map[string]int64{}, refusals: map[string]int64{}, buckets: make([]int64, len(bounds))}
}

func (m *metrics) ran(outcome string, took time.Duration, denials int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[outcome]++
	m.denials += int64(denials)
	m.count++
	m.seconds += took.Seconds()
	for i, b := range bounds {
		if took.Seconds() <= b {
			m.buckets[i]++
		}
	}
}

func (m *metrics) refused(code string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusals[code]++
}

// write prints the text format 0.0.4 of Prometheus.
func (m *metrics) write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	family(w, "ambit_runs_total", "counter", "Runs by how they ended.")
	labelled(w, "ambit_runs_total", "outcome", m.outcomes)
	family(w, "ambit_refused_total", "counter", "Requests that were not run, by code.")
	labelled(w, "ambit_refused_total", "code", m.refusals)
	family(w, "ambit_denials_total", "counter", "Calls of commands that the broker refused.")
	fmt.Fprintf(w, "ambit_denials_total %d\n", m.denials)
	family(w, "ambit_run_duration_seconds", "histogram", "Time of runs, without the queue.")
	for i, b := range bounds {
		fmt.Fprintf(w, "ambit_run_duration_seconds_bucket{le=\"%g\"} %d\n", b, m.buckets[i])
	}
	fmt.Fprintf(w, "ambit_run_duration_seconds_bucket{le=\"+Inf\"} %d\nambit_run_duration_seconds_sum %g\nambit_run_duration_seconds_count %d\n", m.count, m.seconds, m.count)
}

func family(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func labelled(w io.Writer, name, label string, values map[string]int64) {
	var keys []string
	for k := range values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(w, "%s{%s=%q} %d\n", name, label, k, values[k])
	}
}

func (s *Server) showMetrics(w http.ResponseWriter, _ *http.Request, _ string) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.metrics.write(w)
	h := s.healthAnswer()
	gauge := func(name, help string, v any) {
		family(w, name, "gauge", help)
		fmt.Fprintf(w, "%s %v\n", name, v)
	}
	available := 0
	if h.Sandbox.Available {
		available = 1
	}
	gauge("ambit_sandbox_available", "1 if the last sandboxed command worked.", available)
	gauge("ambit_running", "Runs now.", h.Running)
	gauge("ambit_waiting", "Runs that wait for a place.", h.Waiting)
	gauge("ambit_journal_lost_lines", "Lines that the journal could not take.", h.Journal.LostLines)
}
