// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"fmt"
	"strings"
)

// NetworkUse says what a refused call has to do with the network that a policy
// closes.
type NetworkUse uint8

const (
	// NetworkNotMeant: the call is refused under an open network too.
	NetworkNotMeant NetworkUse = iota
	// NetworkListed: a route netlink socket, by which programs list interfaces.
	// It carries nothing.
	NetworkListed
	// NetworkProbed: a datagram socket that blocks. C libraries make one to
	// find out which address families work and which local address a route
	// has (rfc3484_sort in glibc's getaddrinfo.c); few programs send by one.
	NetworkProbed
	// NetworkUsed: any other socket, a resolver's among them: glibc and musl
	// ask name servers by datagram sockets that don't block.
	NetworkUsed
)

const sockNonblock = 0x800 // SOCK_NONBLOCK on amd64 and arm64 (asm-generic/fcntl.h)

// networkUse judges a refused call by what an open network would allow.
func (c Config) networkUse(called call, args [6]uint64) NetworkUse {
	if called != callSocket || c.Network == NetworkOpen {
		return NetworkNotMeant
	}
	c.Network = NetworkOpen
	if r := decide(c, called, args); r != nil && r.then == Refuse {
		return NetworkNotMeant
	}
	kind, protocol := uint32(args[1]), uint32(args[2])
	switch {
	case uint32(args[0]) == afNetlink:
		return NetworkListed
	case kind&sockTypeMask == sockDgram && kind&sockNonblock == 0 && (protocol == 0 || protocol == 17):
		return NetworkProbed
	}
	return NetworkUsed
}

// asked says in a few words what a refused call asked for. The numbers stand
// for themselves where no name is known.
func asked(called call, rule string, args [6]uint64) string {
	switch called {
	case callSocket, callSocketpair:
		return numbered(families, "domain", uint32(args[0])) + " " + numbered(socketTypes, "type", uint32(args[1])&sockTypeMask) + " " + calls[called].name
	case callClone:
		return namespaces(args[0] & cloneNamespaces) // the rest has the exit signal
	case callUnshare:
		return namespaces(args[0])
	case callIoctl:
		return numbered(requests, "request", uint32(args[1]))
	case callPrlimit64, callSchedSetscheduler, callSchedSetparam, callSchedSetattr, callMigratePages, callMovePages:
		return fmt.Sprintf("process %d", int32(args[0]))
	}
	return rule
}

// value is a number that has a name.
type value struct {
	number uint32
	name   string
}

func numbered(list []value, what string, number uint32) string {
	for _, v := range list {
		if v.number == number {
			return v.name
		}
	}
	return fmt.Sprintf("%s %d", what, number)
}

// families are those of address_families(7) that programs try.
var families = []value{
	{1, "AF_UNIX"}, {2, "AF_INET"}, {3, "AF_AX25"}, {4, "AF_IPX"}, {5, "AF_APPLETALK"}, {9, "AF_X25"}, {10, "AF_INET6"},
	{15, "AF_KEY"}, {16, "AF_NETLINK"}, {17, "AF_PACKET"}, {21, "AF_RDS"}, {24, "AF_PPPOX"}, {29, "AF_CAN"}, {30, "AF_TIPC"},
	{31, "AF_BLUETOOTH"}, {38, "AF_ALG"}, {39, "AF_NFC"}, {40, "AF_VSOCK"}, {41, "AF_KCM"}, {42, "AF_QIPCRTR"}, {43, "AF_SMC"}, {44, "AF_XDP"},
}

var socketTypes = []value{
	{sockStream, "SOCK_STREAM"}, {sockDgram, "SOCK_DGRAM"}, {sockRaw, "SOCK_RAW"}, {4, "SOCK_RDM"}, {5, "SOCK_SEQPACKET"}, {6, "SOCK_DCCP"}, {sockPacket, "SOCK_PACKET"},
}

var requests = []value{{0x5412, "TIOCSTI"}, {0x541c, "TIOCLINUX"}, {0x5423, "TIOCSETD"}}

// namespaceFlags are those of clone(2); CLONE_NEWTIME is unshare's alone.
var namespaceFlags = []value{
	{0x00000080, "CLONE_NEWTIME"}, {0x00020000, "CLONE_NEWNS"}, {0x02000000, "CLONE_NEWCGROUP"}, {0x04000000, "CLONE_NEWUTS"},
	{0x08000000, "CLONE_NEWIPC"}, {0x10000000, "CLONE_NEWUSER"}, {0x20000000, "CLONE_NEWPID"}, {0x40000000, "CLONE_NEWNET"},
}

// namespaces names the namespaces that flags ask for.
func namespaces(flags uint64) string {
	var names []string
	for _, v := range namespaceFlags {
		if uint32(flags)&v.number != 0 {
			names = append(names, v.name)
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("flags %#x", flags)
	}
	return strings.Join(names, " ")
}
