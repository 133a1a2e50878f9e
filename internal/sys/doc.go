// SPDX-License-Identifier: Apache-2.0

// Package sys is the only importer of golang.org/x/sys/unix: thin wrappers
// that retry EINTR, name the call and its object in their errors, and keep
// the errno for errors.Is. It decides nothing.
package sys
