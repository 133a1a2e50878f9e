// SPDX-License-Identifier: Apache-2.0

// Package journal keeps what the service ran: append-only files of JSON lines,
// one when a run begins and one when it ends. It is linked into the command
// line too, so it imports little.
package journal

import (
	"encoding/json"
	"time"
)

// Start is written before a run begins.
type Start struct {
	ID      string    `json:"run_id"`
	Time    time.Time `json:"time"`
	Who     string    `json:"who"`
	Project string    `json:"project"`
	Argv    []string  `json:"argv"`
	Secrets []string  `json:"secrets,omitempty"` // names
}

// End is written when it is over.
type End struct {
	ID   string    `json:"run_id"`
	Time time.Time `json:"time"`
	// Outcome is one of "exited", "timed-out", "cancelled", "refused" and
	// "lost".
	Outcome      string          `json:"outcome"`
	ExitCode     int             `json:"exit_code"`
	Code         string          `json:"code,omitempty"`
	Error        string          `json:"error,omitempty"`
	PolicyDigest string          `json:"policy_digest,omitempty"`
	QueuedMS     float64         `json:"queued_ms"`
	TotalMS      float64         `json:"total_ms"`
	Receipt      json.RawMessage `json:"receipt,omitempty"` // with the denials
}

// Outcomes of a run.
const (
	Exited    = "exited"
	TimedOut  = "timed-out"
	Cancelled = "cancelled"
	Refused   = "refused" // nothing was executed
	Lost      = "lost"    // the service ended before the run did
)

// Run is both lines of one run; End is nil while it runs.
type Run struct {
	Start
	End *End `json:"end,omitempty"`
}

// line is what stands in a file.
type line struct {
	Start *Start `json:"start,omitempty"`
	End   *End   `json:"end,omitempty"`
}
