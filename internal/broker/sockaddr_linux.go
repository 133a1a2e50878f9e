// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bytes"
	"encoding/binary"
	"syscall"
)

// unixAddress is a copied address of a unix socket.
type unixAddress struct {
	kind addressKind
	// path is the socket's path, or the abstract name behind "@".
	path string
}

type addressKind uint8

const (
	// otherFamily: not for a unix socket at all; AF_UNSPEC disconnects.
	otherFamily addressKind = iota
	malformed
	pathname
	abstract
)

const (
	// sockaddrMax bounds every address (struct sockaddr_storage,
	// move_addr_to_kernel in net/socket.c).
	sockaddrMax = 128
	// sunPath is where the path begins in struct sockaddr_un, which is
	// sockaddrUn bytes long (unix(7)).
	sunPath    = 2
	sockaddrUn = 110
)

// parseUnix reads an address as unix_validate_addr and unix_mkname_bsd do
// (net/unix/af_unix.c): a path ends at its NUL or with the address.
func parseUnix(addr []byte) unixAddress {
	if len(addr) < sunPath {
		return unixAddress{kind: malformed}
	}
	family := binary.NativeEndian.Uint16(addr)
	path := addr[sunPath:]
	switch {
	case family != syscall.AF_UNIX:
		return unixAddress{kind: otherFamily}
	case len(path) == 0 || len(addr) > sockaddrUn:
		return unixAddress{kind: malformed}
	case path[0] == 0:
		return unixAddress{abstract, "@" + string(path[1:])}
	}
	if i := bytes.IndexByte(path, 0); i >= 0 {
		path = path[:i]
	}
	return unixAddress{pathname, string(path)}
}

// unixPath makes the address of a path.
func unixPath(path string) []byte {
	addr := binary.NativeEndian.AppendUint16(nil, syscall.AF_UNIX)
	return append(append(addr, path...), 0)
}
