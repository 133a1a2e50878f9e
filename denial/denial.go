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
	// Reason says why it was refused although the rule grants it, or why the
	// system call filter refuses it; empty where the rule does not grant it.
	Reason string `json:"reason,omitempty"`
	// Filter is the short name of the filter's rule that refused the call, as
	// "network" or "namespaces"; empty where the filter did not.
	Filter string `json:"filter,omitempty"`
	// Network says what the call has to do with a network that the policy
	// closes; empty where that is nothing.
	Network Network `json:"network,omitempty"`
	// Count is how many calls this stands for, if they are more than one:
	// calls that differ in nothing but the caller and the time. PID, Process,
	// Program and At are then the last one's.
	Count int `json:"count,omitempty"`
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

// Network is what a refused call has to do with a network that is closed.
type Network string

const (
	// NetworkUsed: only who uses the network makes such a call.
	NetworkUsed Network = "used"
	// NetworkProbed: libraries make it too to find out which addresses work,
	// without a packet; the command may not have meant the network.
	NetworkProbed Network = "probed"
	// NetworkListed: it lists interfaces.
	NetworkListed Network = "listed"
)

// Same reports whether two denials differ in nothing but the caller and how
// often it called.
func (d *Denial) Same(other *Denial) bool {
	return d.Call == other.Call && d.Named == other.Named && d.Object == other.Object && d.Errno == other.Errno &&
		d.Access == other.Access && d.Reason == other.Reason && d.Filter == other.Filter && d.Network == other.Network &&
		(d.Rule == other.Rule || d.Rule != nil && other.Rule != nil && *d.Rule == *other.Rule)
}

// Calls is how many calls the denial stands for.
func (d *Denial) Calls() int { return max(d.Count, 1) }

// Total is how many calls a list of denials stands for.
func Total(list []Denial) int {
	n := 0
	for i := range list {
		n += list[i].Calls()
	}
	return n
}
