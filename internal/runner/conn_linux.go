// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/supervisor"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// socketOf makes a file of a socket, which it takes over: one with deadlines,
// for which no thread waits. Package net would do the same, but has every
// program that links it linked with the C library where there is one.
func socketOf(fd int) (*os.File, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return nil, os.NewSyscallError("fcntl(F_SETFL)", err)
	}
	return os.NewFile(uintptr(fd), "supervisor"), nil
}

// connOver is a connection for messages over such a file.
func connOver(f *os.File) (*supervisor.Conn, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &supervisor.Conn{
		Send: func(b []byte, pass ...int) (n int, err error) {
			waits := raw.Write(func(fd uintptr) bool {
				n, err = sys.SendSome(int(fd), b, pass...)
				return !errors.Is(err, syscall.EAGAIN)
			})
			return n, errors.Join(waits, err)
		},
		Receive: func(b []byte) (n int, passed []int, err error) {
			waits := raw.Read(func(fd uintptr) bool {
				n, passed, err = sys.Receive(int(fd), b)
				return !errors.Is(err, syscall.EAGAIN)
			})
			if waits != nil { // a deadline, or closed
				return 0, nil, waits
			}
			if err == nil && n == 0 {
				err = io.EOF
			}
			return n, passed, err
		},
	}, nil
}
