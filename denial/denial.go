// SPDX-License-Identifier: Apache-2.0

// Package denial describes what a sandbox refused: which call, on which
// object, and by which rule.
package denial

import "github.com/ambit-sandbox/ambit/policy"

// Denial is one refused system call.
type Denial struct {
	// Call is the system call's name ("fchmodat").
	Call string `json:"call"`
	// Named is the object as the caller named it: a path, or "fd 3". Like
	// every path it may hold any byte but NUL.
	Named string `json:"named"`
	// Object is the canonical name of what Named led to, empty for what has
	// no name.
	Object string `json:"object,omitempty"`
	// Rule is the listed path that decided, nil if no rule covers the object.
	Rule *policy.PathRule `json:"rule,omitempty"`
	// Access is what the call asked of the object; empty where that is not a
	// matter of a path.
	Access Access `json:"access,omitempty"`
	// Errno is what the caller got ("EACCES").
	Errno string `json:"errno"`
	// PID is the calling thread, as the supervisor numbers threads.
	PID int `json:"pid"`
	// Process is the process that the thread belongs to, 0 if that could not
	// be found out.
	Process int `json:"process,omitempty"`
	// Program is what the process calls itself (proc_pid_comm(5)), for Git
	// with its subcommand ("git worktree"). The process chooses it, so it
	// proves nothing.
	Program string `json:"program,omitempty"`
	// At is when the call was refused, in milliseconds from the start of the
	// command.
	At float64 `json:"at_ms"`
	// Reason says why it was refused although the rule grants it; empty where
	// the rule does not.
	Reason string `json:"reason,omitempty"`
	// Grant is the least that would let the call through, nil where nothing
	// in a policy would.
	Grant *Grant `json:"grant,omitempty"`
}

// Access is what a call asks of an object.
type Access string

// The accesses, in the words of a policy's grants.
const (
	Read  Access = "read"
	Write Access = "write"
)
