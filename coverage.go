// SPDX-License-Identifier: Apache-2.0

package ambit

import "github.com/ambit-sandbox/ambit/internal/backend"

// CoverageLine reports on one item of what a policy asks.
type CoverageLine struct {
	// Item is the stable name, as in a policy's accept list; Subject what it
	// is about, where there may be several.
	Item    string `json:"item"`
	Subject string `json:"subject,omitempty"`
	// Verdict is "enforced" (exactly as asked), "weakened" (bounded less
	// exactly, see Reason) or "not enforced".
	Verdict string `json:"verdict"`
	// Mechanism enforces it.
	Mechanism string `json:"mechanism,omitempty"`
	// Reason says why an item is weakened or not enforced, or what an
	// enforced one costs the command.
	Reason string `json:"reason,omitempty"`
	// Accepted: not enforced, and the policy accepts that.
	Accepted bool `json:"accepted,omitempty"`
}

func coverageOf(c backend.Coverage) []CoverageLine {
	out := make([]CoverageLine, 0, len(c))
	for _, l := range c {
		out = append(out, CoverageLine{
			Item: string(l.Item), Subject: l.Subject, Verdict: string(l.Verdict),
			Mechanism: l.Mechanism, Reason: l.Reason, Accepted: l.Accepted,
		})
	}
	return out
}
