// SPDX-License-Identifier: Apache-2.0

//go:build !linux || !(amd64 || arm64)

// Package softlimit remembers the limit of open files that this process was
// started with; on this system it can't.
package softlimit

// Nofile says that the limit is not known.
func Nofile() (soft, hard uint64, ok bool) { return 0, 0, false }
