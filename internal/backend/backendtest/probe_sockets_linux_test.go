// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// socketOperations are those on sockets. An address is IP:PORT, /PATH (or any
// relative path), or @NAME for an abstract one.
func socketOperations() map[string]operation {
	return map[string]operation{
		"bind":         bindSocket,
		"talk":         talk,
		"talk-through": talkThrough,
		"send":         sendTo,
		"serve":        serveSelf,
		"connect-fd":   connectFD,
		"send-fd":      sendFD,
		"fast-open":    fastOpen,
		"fast-open-fd": fastOpenFD,
	}
}

func address(text string) (domain int, sa syscall.Sockaddr) {
	ap, err := netip.ParseAddrPort(text)
	switch {
	case err != nil:
		return syscall.AF_UNIX, &syscall.SockaddrUnix{Name: text}
	case ap.Addr().Is4():
		return syscall.AF_INET, &syscall.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}
	}
	return syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(ap.Port()), Addr: ap.Addr().As16()}
}

var socketTypes = map[string]int{"stream": syscall.SOCK_STREAM, "datagram": syscall.SOCK_DGRAM, "seqpacket": syscall.SOCK_SEQPACKET}

// bindSocket ADDRESS [TYPE]: make a socket, name it, and listen if it can.
func bindSocket(a []string) (string, error) {
	domain, sa := address(a[0])
	kind := syscall.SOCK_STREAM
	if len(a) > 1 {
		kind = socketTypes[a[1]]
	}
	fd, err := syscall.Socket(domain, kind, 0)
	if err != nil {
		return "socket", err
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := syscall.Bind(fd, sa); err != nil || kind == syscall.SOCK_DGRAM {
		return "bind", err
	}
	return "listen", syscall.Listen(fd, 1)
}

// talk ADDRESS TYPE: connect, and read what the server greets with.
func talk(a []string) (string, error) {
	domain, sa := address(a[0])
	fd, err := syscall.Socket(domain, socketTypes[a[1]], 0)
	if err != nil {
		return "socket", err
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := syscall.Connect(fd, sa); err != nil {
		return "connect", err
	}
	return greeting(fd)
}

// talkThrough PATH TYPE: connect under the name of a descriptor that pins the
// socket file.
func talkThrough(a []string) (string, error) {
	fd, err := syscall.Open(a[0], oPath, 0)
	if err != nil {
		return "pin", err
	}
	defer func() { _ = syscall.Close(fd) }()
	return talk([]string{"/proc/self/fd/" + strconv.Itoa(fd), a[1]})
}

func greeting(fd int) (string, error) {
	limit := syscall.Timeval{Sec: 20}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit); err != nil {
		return "setsockopt", err
	}
	buf := make([]byte, 64)
	for {
		n, err := syscall.Read(fd, buf)
		if err == syscall.EINTR {
			// Go's runtime sends its threads signals; a socket with a time limit
			// does not go on after one, whatever SA_RESTART says (signal(7)).
			continue
		}
		return string(buf[:max(n, 0)]), err
	}
}

// sendTo ADDRESS TEXT [connect]: a datagram.
func sendTo(a []string) (string, error) {
	domain, sa := address(a[0])
	fd, err := syscall.Socket(domain, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return "socket", err
	}
	defer func() { _ = syscall.Close(fd) }()
	if len(a) > 2 {
		if err := syscall.Connect(fd, sa); err != nil {
			return "connect", err
		}
		_, err := syscall.Write(fd, []byte(a[1]))
		return "write", err
	}
	return "sendto", syscall.Sendto(fd, []byte(a[1]), 0, sa)
}

// serveSelf ADDRESS TYPE: listen, connect to oneself, and pass a word.
func serveSelf(a []string) (string, error) {
	domain, sa := address(a[0])
	server, err := syscall.Socket(domain, socketTypes[a[1]], 0)
	if err != nil {
		return "socket", err
	}
	defer func() { _ = syscall.Close(server) }()
	if err := syscall.Bind(server, sa); err != nil {
		return "bind", err
	}
	if a[1] == "datagram" {
		if detail, err := sendTo([]string{a[0], "word"}); err != nil {
			return detail, err
		}
		return greeting(server)
	}
	if err := syscall.Listen(server, 1); err != nil {
		return "listen", err
	}
	if sa, err = syscall.Getsockname(server); err != nil {
		return "getsockname", err
	}
	client, err := syscall.Socket(domain, socketTypes[a[1]], 0)
	if err != nil {
		return "socket", err
	}
	defer func() { _ = syscall.Close(client) }()
	if err := syscall.Connect(client, sa); err != nil {
		return "connect", err
	}
	peer, _, err := syscall.Accept(server)
	if err != nil {
		return "accept", err
	}
	defer func() { _ = syscall.Close(peer) }()
	if _, err := syscall.Write(client, []byte("word")); err != nil {
		return "write", err
	}
	return greeting(peer)
}

// connectFD FD ADDRESS, sendFD FD ADDRESS: with a socket that was inherited.
func connectFD(a []string) (string, error) {
	fd, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	_, sa := address(a[1])
	return "connect", syscall.Connect(fd, sa)
}

func sendFD(a []string) (string, error) {
	fd, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	_, sa := address(a[1])
	return "sendto", syscall.Sendto(fd, []byte("inherited"), 0, sa)
}

// fastOpen IPv4:PORT: data with the first packet, without connect(2).
func fastOpen(a []string) (string, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "socket", err
	}
	defer func() { _ = syscall.Close(fd) }()
	return sendFast(fd, a[0])
}

func fastOpenFD(a []string) (string, error) {
	fd, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	return sendFast(fd, a[1])
}

// sendFast makes the call by hand: package syscall has no MSG_FASTOPEN.
func sendFast(fd int, to string) (string, error) {
	const msgFastOpen = 0x20000000
	ap, err := netip.ParseAddrPort(to)
	if err != nil || !ap.Addr().Is4() {
		return "", errors.Join(err, errors.New("an IPv4 address is needed"))
	}
	sa := syscall.RawSockaddrInet4{Family: syscall.AF_INET, Addr: ap.Addr().As4()}
	sa.Port = ap.Port()>>8 | ap.Port()<<8
	text := []byte(strings.Repeat("x", 16))
	_, _, errno := syscall.Syscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)),
		msgFastOpen, uintptr(unsafe.Pointer(&sa)), unsafe.Sizeof(sa))
	if errno != 0 {
		return "sendto", errno
	}
	return greeting(fd)
}
