// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one of `go doc test2json`. Test is empty for what concerns a whole
// package.
type event struct {
	Action, Package, Test, Output string
}

// place names a test, or with an empty test a package.
type place struct{ pkg, test string }

func (p place) String() string { return p.pkg + " " + p.test }

// skip is a test that did not run, and what it said.
type skip struct {
	place
	reason string
}

// report holds what tests have printed until it is known how they end.
type report struct {
	out            io.Writer
	said           map[place][]string
	passed, failed int
	skips          []skip
}

func newReport(out io.Writer) *report { return &report{out: out, said: map[place][]string{}} }

func (r *report) add(e event) {
	at := place{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		r.print(e.Output)
	case "output":
		r.said[at] = append(r.said[at], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.packageEnds(at, e.Action)
		} else {
			r.testEnds(at, e.Action)
		}
	}
}

func (r *report) testEnds(at place, how string) {
	switch how {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		r.print(r.said[at]...)
	case "skip":
		r.skips = append(r.skips, skip{at, reason(r.said[at])})
	}
	delete(r.said, at)
}

// packageEnds prints a package's closing line, and where it failed all that it
// said, also within tests that have not come to an end.
func (r *report) packageEnds(at place, how string) {
	said := r.said[at]
	delete(r.said, at)
	if how != "fail" {
		said = said[max(0, len(said)-1):]
	}
	for _, other := range slices.SortedFunc(maps.Keys(r.said), func(a, b place) int { return cmp.Compare(a.test, b.test) }) {
		if other.pkg == at.pkg {
			r.print(r.said[other]...)
			delete(r.said, other)
		}
	}
	r.print(said...)
}

func (r *report) print(text ...string) {
	for _, t := range text {
		_, _ = io.WriteString(r.out, t)
	}
}

// reason is what a skipped test said itself.
func reason(said []string) string {
	var own []string
	for _, line := range said {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- SKIP") {
			own = append(own, line)
		}
	}
	return strings.Join(own, " ")
}

// topLevel is the test that a subtest belongs to.
func topLevel(test string) string {
	test, _, _ = strings.Cut(test, "/")
	return test
}

// close prints the sums and every skip.
func (r *report) close(expected map[place]string) error {
	unexpected := 0
	slices.SortFunc(r.skips, func(a, b skip) int { return cmp.Compare(a.String(), b.String()) })
	for _, s := range r.skips {
		s.pkg = strings.TrimPrefix(strings.TrimPrefix(s.pkg, module), "/")
		why, ok := expected[place{s.pkg, topLevel(s.test)}]
		if !ok {
			unexpected++
			why = "NOT EXPECTED"
		}
		r.print(fmt.Sprintf("skipped (%s): %s: %s\n", why, s.place, s.reason))
	}
	r.print(fmt.Sprintf("%d passed, %d failed, %d skipped\n", r.passed, r.failed, len(r.skips)))
	switch {
	case r.passed == 0:
		return fmt.Errorf("no test passed")
	case unexpected > 0:
		return fmt.Errorf("%d skips are not in internal/testrun/expected_skips", unexpected)
	}
	return nil
}
