// SPDX-License-Identifier: Apache-2.0

// Package secctx describes the security context of a process: everything that
// decides what the kernel lets it do, as far as the caller may see it, and
// compares two of them.
//
// Three rules hold throughout. What can't be read is left out and has an entry
// in Context.Unknown that says why and what it would take; zero never stands
// for unknown. No value of an environment variable is recorded. Text that
// comes from other processes or from the file system is escaped ([Escape]) and
// bounded, with a count of what there was.
//
// Gathering needs no more rights than the caller has and changes nothing.
// docs/context.md is the schema.
package secctx
