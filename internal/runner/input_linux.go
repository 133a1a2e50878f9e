// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"io"
	"os"
	"syscall"
)

// input copies a reader into a pipe.
type input struct{ pipe *os.File }

// newInput starts to copy, and returns the command's end.
func newInput(from io.Reader) (*input, int, error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return nil, -1, os.NewSyscallError("pipe2", err)
	}
	if err := syscall.SetNonblock(fds[1], true); err != nil {
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
		return nil, -1, os.NewSyscallError("fcntl(F_SETFL)", err)
	}
	in := &input{os.NewFile(uintptr(fds[1]), "input")}
	// It ends with its source, or with the command: a write then fails.
	go func() {
		_, _ = io.Copy(in.pipe, from)
		_ = in.pipe.Close()
	}()
	return in, fds[0], nil
}

// finish ends the copy, as far as it does not wait for its source.
func (in *input) finish() {
	if in != nil {
		_ = in.pipe.Close()
	}
}
