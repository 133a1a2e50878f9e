// SPDX-License-Identifier: Apache-2.0

// Package cgroup has control groups of version 2 (cgroups(7)) for runs: one
// group for each command, below one that the service was given for its own
// use ("delegated", Documentation/admin-guide/cgroup-v2.rst). They bound what
// resource limits can't, since those count each process by itself, or all that
// a user has; and they end a tree in one write, wherever its processes hang.
//
//	the delegated group
//	└── ambit-PID             held by the service: locked as long as it lives
//	    ├── service           the service, its supervisors and launchers
//	    ├── run-1             a command and all its descendants
//	    └── run-2
package cgroup

// Controllers are what a group can bound.
type Controllers struct {
	Memory, Processes bool
	// CPU: the processor time of all together is known.
	CPU bool
}
