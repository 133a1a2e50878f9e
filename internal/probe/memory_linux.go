// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"unsafe"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// memoryRefusals: process_vm_readv(2), ERRORS; the access check is ptrace's.
var memoryRefusals = refusals{
	{syscall.EPERM, "a security module, a seccomp filter or a missing privilege forbids it"},
	{syscall.EACCES, "a security module, a seccomp filter or a missing privilege forbids it"},
	{syscall.ENOSYS, notBuilt},
}

// memoryText is what the parent reads in its child. It stands in the data of
// the program, which no garbage collector moves.
var memoryText = [16]byte{'a', 'm', 'b', 'i', 't', ' ', 'p', 'r', 'o', 'b', 'e'}

// memoryChild tells where memoryText is and waits for its parent to read it.
func memoryChild(t teller, _ []string) {
	_ = t.count("address", func() (int, error) {
		return int(uintptr(unsafe.Pointer(&memoryText))), nil
	})
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// tryMemory reads the memory of a child, as the broker reads a command's.
func tryMemory(ctx context.Context, run childRunner) Result {
	read := errUnheard
	o := run(ctx, childSpec{name: "memory", heard: func(pid int, s step) {
		read = readBack(pid, uintptr(s.Value))
	}})
	r := Result{Feature: featureIn(attemptFeatures, FeatChildMemory), Err: read}
	if o.err != nil && read == errUnheard {
		r.Err = o.err
	}
	r.Verdict, r.Detail = memoryRefusals.judge(r.Err)
	return r
}

func readBack(pid int, addr uintptr) error {
	var got [len(memoryText)]byte
	n, errno := sys.CopyMemory(pid, uint64(addr), got[:])
	switch {
	case errno != 0:
		return os.NewSyscallError("process_vm_readv", errno)
	case n != len(got) || got != memoryText:
		return errors.New("the memory of a child read differently than the child wrote it")
	}
	return nil
}
