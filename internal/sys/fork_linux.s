// SPDX-License-Identifier: Apache-2.0

// An assembly file, empty though it is, lets the compiler accept the
// functions without bodies in fork_unsafe_linux.go (cmd/compile, -complete).
