// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

// Package softlimit remembers the limit of open files that this process was
// started with. Go's package syscall raises the soft limit to the hard one
// before main runs, and restores it only for programs that it starts itself
// (syscall/rlimit.go); the launcher forks on its own and must hand on what
// the caller had: a limit of half a million makes programs slow that close
// every possible descriptor, and breaks those that use select(2).
//
// It reads the limit before package syscall is initialised: packages are
// initialised in order of their import paths as soon as what they import is
// (Go specification, "Program initialization"), and this one imports nothing.
// TestNofileIsTheCallers in internal/cli keeps that true.
package softlimit

// value is struct rlimit64: soft and hard limit.
var value = read()

func read() (v [2]uint64) {
	if prlimitNofile(&v) != 0 {
		return [2]uint64{}
	}
	return v
}

// Nofile returns RLIMIT_NOFILE at process start, soft and hard; ok is false
// if the kernel would not say.
func Nofile() (soft, hard uint64, ok bool) { return value[0], value[1], value[1] != 0 }

// prlimitNofile calls prlimit64(0, RLIMIT_NOFILE, NULL, v) and returns the
// kernel's answer.
//
//go:noescape
func prlimitNofile(v *[2]uint64) int64
