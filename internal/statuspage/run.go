// SPDX-License-Identifier: Apache-2.0

package statuspage

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/journal"
	"github.com/ambit-sandbox/ambit/policy"
)

// Rows that a page shows of a list at most.
const (
	maxDenials  = 200
	maxCoverage = 200
)

// Run is what the page of one run shows.
type Run struct {
	*journal.Run
	Now     time.Time
	Receipt *ambit.Receipt // nil while it runs, and for what was refused early
	// Denials and Coverage are the first of the receipt's; the numbers count
	// what is left out.
	Denials                   []denial.Denial
	Coverage                  []ambit.CoverageLine
	DenialsLeft, CoverageLeft int
}

// Run makes the page of one run.
func (p *Pages) Run(r *journal.Run, now time.Time) ([]byte, error) {
	v := &Run{Run: r, Now: now}
	if r.End != nil && len(r.End.Receipt) > 0 {
		receipt := &ambit.Receipt{}
		if json.Unmarshal(r.End.Receipt, receipt) == nil {
			v.take(receipt)
		}
	}
	return p.make("run", v)
}

func (v *Run) take(r *ambit.Receipt) {
	v.Receipt = r
	v.Denials, v.DenialsLeft = first(r.Denials, maxDenials)
	v.Coverage, v.CoverageLeft = first(r.Coverage, maxCoverage)
	v.DenialsLeft += r.DenialsDropped
}

// first returns the first elements, and how many there are beyond.
func first[T any](all []T, most int) (some []T, left int) {
	n := min(len(all), most)
	return all[:n], len(all) - n
}

// grant is what to add to a policy, if anything is.
func grant(g *denial.Grant) (string, error) {
	if g.Policy == nil {
		return "", nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the template does that
	err := e.Encode(g.Policy)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// rule is the listed path that decided.
func rule(r *policy.PathRule) string {
	if r == nil {
		return "no rule"
	}
	return string(r.Kind) + " " + line(r.Path)
}
