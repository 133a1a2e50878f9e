// SPDX-License-Identifier: Apache-2.0

// Package backendtest is the conformance suite: what the contract promises,
// tried on the product's own path, the command line, on a real kernel.
//
// It holds tests only. They run the ambit program and, as the sandboxed
// command, this test binary again, which makes the calls that no shell tool
// makes and prints each one's errno (probe_linux_test.go). Every denial has a
// positive control beside it, and what was denied is looked at from outside
// afterwards.
//
//	go test ./internal/backend/backendtest
//	CGO_ENABLED=0 go test -c ./internal/backend/backendtest   # to run elsewhere
//
// The environment:
//
//	AMBIT_BIN             the program to test; unset: it is built
//	AMBIT_EXPECT_ABI      Landlock's ABI, a number, 0 for none: another one is a failure
//	AMBIT_EXPECT_KERNEL   what the kernel's release begins with
//	AMBIT_EXPECT          "unavailable": like AMBIT_EXPECT_ABI=0
//	AMBIT_TEST_SETUID     a copy of the test binary that is setuid root, which only root can make
//	AMBIT_SLOW            "1": longer deadlines and fewer repetitions, for an emulated machine
//
// Where no Landlock is expected, only TestUnavailable runs: every way in must
// refuse. Started as root the suite runs as an ordinary user, and after that
// the tests whose names begin with TestRoot once more as root.
package backendtest
