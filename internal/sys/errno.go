// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sys

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrnoName returns the name of the errno that err wraps ("EPERM"), and the
// empty string if it wraps none or one without a name.
func ErrnoName(err error) string {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return ""
	}
	return unix.ErrnoName(errno)
}
