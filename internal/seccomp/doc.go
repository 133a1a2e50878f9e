// SPDX-License-Identifier: Apache-2.0

// Package seccomp builds the system call filter of a sandboxed command.
//
// The filter answers for what Landlock does not see: sockets, the calls that
// change a file's metadata, namespaces, keyrings, kernel interfaces with a
// long record of holes, and calls that reach processes outside the sandbox.
// Each refused call stands with its reason in a table ([Rules]), from which
// docs/seccomp.md is made.
//
// Compile is pure: it turns a [Config] into instructions for either supported
// architecture, on any system. Installing them is the launcher's work.
//
// # Shape of the filter
//
//	architecture is not the native one      -> ENOSYS
//	binary search over the call's number    -> a verdict, or a list of checks
//	checks                                  -> load one argument, compare, verdict
//
// A number without checks is decided on architecture and number alone, which
// is what lets the kernel skip the filter for every such call that is allowed
// (since Linux 5.11, seccomp_is_const_allow in kernel/seccomp.c). Numbers that
// the table does not know answer ENOSYS, as on an older kernel, so a call that
// Linux grows later is never let through unseen.
package seccomp

//go:generate go run gen.go
