// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// PeerUID returns the user who connected to a unix socket: the kernel keeps
// the credentials of the time of connect(2) (unix(7), SO_PEERCRED), so the
// peer can't change them afterwards.
func PeerUID(c syscall.RawConn) (uint32, error) {
	var (
		cred *unix.Ucred
		err  error
	)
	if e := c.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
