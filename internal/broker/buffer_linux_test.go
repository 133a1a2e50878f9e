// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// A child's memory for results, at the same address in each: pages that can be
// written, one that can only be read, and one that is not there. Pages have up
// to 64 KiB (arm64).
const (
	bufferAt   = 0x10_0000_0000
	bufferSize = 128 << 10
	sealedAt   = bufferAt + bufferSize
	bufferEnd  = sealedAt + 64<<10
)

// makeBuffer maps it.
func (s *subject) makeBuffer(tb testing.TB) {
	tb.Helper()
	const fixedNoReplace = 0x100000 // MAP_FIXED_NOREPLACE
	flags := syscall.MAP_PRIVATE | syscall.MAP_ANON | fixedNoReplace
	o := s.call(tb, syscall.SYS_MMAP, bufferAt, bufferEnd-bufferAt, syscall.PROT_READ|syscall.PROT_WRITE, flags, -1, 0)
	if o.Value != bufferAt {
		tb.Fatalf("no memory at %#x: %v", bufferAt, o)
	}
	if o := s.call(tb, syscall.SYS_MPROTECT, sealedAt, bufferEnd-sealedAt, syscall.PROT_READ); o.Errno != 0 {
		tb.Fatal(o)
	}
}

// wipe fills parts of the child's memory with what no call writes.
func (s *subject) wipe(tb testing.TB) {
	tb.Helper()
	blank := bytes.Repeat([]byte{0xaa}, 1024)
	for _, at := range []uint64{bufferAt, sealedAt - 1024} {
		if n, errno := sys.PlaceMemory(s.cmd.Process.Pid, at, blank); n != len(blank) || errno != 0 {
			tb.Fatalf("only %d written: %v", n, errno)
		}
	}
}

// look returns memory of the child.
func (s *subject) look(tb testing.TB, at uint64, size int) []byte {
	tb.Helper()
	b := make([]byte, size)
	if n, errno := sys.CopyMemory(s.cmd.Process.Pid, at, b); n != size || errno != 0 {
		tb.Fatalf("only %d read: %v", n, errno)
	}
	return b
}

// remains returns the parts that wipe fills, and the beginning of the page
// that can't be written.
func (s *subject) remains(tb testing.TB) []byte {
	tb.Helper()
	return append(s.look(tb, bufferAt, 1024), s.look(tb, sealedAt-1024, 1024+64)...)
}
