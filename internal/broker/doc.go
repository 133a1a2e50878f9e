// SPDX-License-Identifier: Apache-2.0

// Package broker serves the system calls of a sandboxed command that its
// kernel restrictions can't decide. A seccomp filter hands them over, with
// the caller stopped, and every one goes three ways:
//
//	resolve   the arguments are copied once, and what they name is pinned:
//	          an O_PATH descriptor, or a duplicate of the caller's own;
//	decide    the pinned object's canonical name is looked up in the plan's
//	          path tree;
//	perform   the broker makes the call itself, on the pinned descriptor.
//
// The caller's memory and the path are never looked at twice, and no call is
// given back to the kernel to run ("continue"): a second thread of the caller
// could change both in between (seccomp_unotify(2), "NOTES").
//
// The broker does on the caller's behalf only what the caller could do
// itself: its threads hold no capabilities, so they have the same rights as
// the command, whose user and groups can't change either.
//
// One file holds one family of calls; the table is in calls_linux.go.
package broker
