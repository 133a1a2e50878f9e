// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"errors"
	"io"
	"syscall"
)

// isEnd reports whether the other side is gone. Its end with something unread
// is ECONNRESET (unix_release_sock, net/unix/af_unix.c).
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
