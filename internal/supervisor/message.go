// SPDX-License-Identifier: Apache-2.0

package supervisor

import "github.com/ambit-sandbox/ambit"

// Kind says what a message is.
type Kind string

// The messages to a supervisor, and those that it sends.
const (
	Run    Kind = "run"    // with the request's file and the three streams
	Cancel Kind = "cancel" // end the tree
	Signal Kind = "signal" // pass Message.Signal on to the command

	Ready    Kind = "ready"    // with a pidfd of the launcher
	Starting Kind = "starting" // what comes may have run the command
	Started  Kind = "started"
	Done     Kind = "done"
)

// Message is one message of either direction.
type Message struct {
	Kind Kind `json:"kind"`
	// Signal is a number.
	Signal int `json:"signal,omitempty"`
	// Protocol and Build are of Ready.
	Protocol int    `json:"protocol,omitempty"`
	Build    string `json:"build,omitempty"`
	// Result is of Done.
	Result *Result `json:"result,omitempty"`
}

// Result is how a run ended.
type Result struct {
	ExitCode int        `json:"exit_code"`
	Code     ambit.Code `json:"code,omitempty"`
	// Error says why the command did not run to its end.
	Error   string         `json:"error,omitempty"`
	Receipt *ambit.Receipt `json:"receipt"`
}

// passed is how many descriptors go with a message.
func (k Kind) passed() int {
	switch k {
	case Run:
		return 4
	case Ready:
		return 1
	}
	return 0
}
