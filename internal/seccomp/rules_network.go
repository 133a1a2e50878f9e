// SPDX-License-Identifier: Apache-2.0

package seccomp

// Linux reads domain, type and protocol as int: the low halves alone
// (SYSCALL_DEFINE3(socket), net/socket.c).
const (
	sockTypeMask = 0xf // SOCK_TYPE_MASK: the rest is SOCK_NONBLOCK, SOCK_CLOEXEC

	sockStream = 1
	sockDgram  = 2
	sockRaw    = 3
	sockPacket = 10

	afUnix    = 1
	afInet    = 2
	afInet6   = 10
	afNetlink = 16
)

// networkRules are those of a network.
func networkRules(n Network) []rule {
	if n == NetworkOpen {
		return networkOpen
	}
	return networkNone
}

var networkNone = []rule{
	{
		calls:  []call{callSocket, callSocketpair},
		when:   "domain is not AF_UNIX",
		checks: []check{{word: arg0, op: notIn, values: []uint32{afUnix}}},
		errno:  EACCES,
		name:   "network",
		reason: "the policy allows no network, and Landlock sees TCP and UDP only",
		source: "socket(2): EACCES, permission to create a socket of the type or protocol is denied",
	},
}

// networkOpen is a list of what is allowed first, and of what is refused of
// the rest, so that each rule looks at one argument.
var networkOpen = []rule{
	{
		calls:  []call{callSocketpair},
		when:   "domain is not AF_UNIX",
		checks: []check{{word: arg0, op: notIn, values: []uint32{afUnix}}},
		errno:  EACCES,
		name:   "socket-families",
		reason: "only AF_UNIX has pairs that programs use; AF_TIPC has them too",
		source: "socketpair(2)",
	},
	{
		calls:  []call{callSocket},
		when:   "domain is AF_UNIX",
		checks: []check{{word: arg0, values: []uint32{afUnix}}},
		then:   Allow,
		reason: "connecting and binding follow the policy on paths",
		source: "unix(7)",
	},
	{
		calls: []call{callSocket},
		when:  "domain is AF_NETLINK and protocol is NETLINK_ROUTE",
		checks: []check{
			{word: arg0, values: []uint32{afNetlink}},
			{word: arg2, values: []uint32{0}},
		},
		then:   Allow,
		reason: "programs list interfaces by it; changing them needs CAP_NET_ADMIN",
		source: "getifaddrs(3), rtnetlink(7)",
	},
	{
		calls:  []call{callSocket},
		when:   "domain is none of these, AF_INET or AF_INET6",
		checks: []check{{word: arg0, op: notIn, values: []uint32{afInet, afInet6}}},
		errno:  EACCES,
		name:   "socket-families",
		reason: "other families reach hardware, the hypervisor or the kernel, not the network the policy speaks of",
		source: "socket(2): EACCES; address_families(7)",
	},
	{
		calls:  []call{callSocket},
		when:   "type is SOCK_RAW or SOCK_PACKET",
		checks: []check{{word: arg1, mask: sockTypeMask, values: []uint32{sockRaw, sockPacket}}},
		errno:  EPERM,
		name:   "raw-sockets",
		reason: "forges and reads packets; Linux turns AF_INET with SOCK_PACKET into AF_PACKET",
		source: "raw(7): EPERM without CAP_NET_RAW; __sock_create, net/socket.c",
	},
	{
		calls:  []call{callSocket},
		when:   "type is neither SOCK_STREAM nor SOCK_DGRAM",
		checks: []check{{word: arg1, mask: sockTypeMask, op: notIn, values: []uint32{sockStream, sockDgram}}},
		errno:  EPROTONOSUPPORT,
		reason: "with protocol 0 finds SCTP or DCCP, and loads their modules",
		source: "socket(2): EPROTONOSUPPORT; inet_create, net/ipv4/af_inet.c (request_module)",
	},
	{
		calls:  []call{callSocket},
		when:   "protocol is not 0, TCP, UDP or ICMP",
		checks: []check{{word: arg2, op: notIn, values: []uint32{0, 1, 6, 17, 58}}},
		errno:  EPROTONOSUPPORT,
		reason: "Landlock's rights on TCP do not hold for MPTCP; SCTP, DCCP, SMC and the like load kernel modules on demand; " +
			"callers take the answer of a kernel without them, and use TCP",
		source: "socket(2): EPROTONOSUPPORT; inet_create, net/ipv4/af_inet.c (request_module)",
	},
}

// connectRules are those of a verdict for connecting.
func connectRules(v Verdict) []rule {
	switch v {
	case Allow:
		return nil
	case Notify:
		return connectNotify
	}
	return connectRefuse
}

const connectReason = "the address is in memory, and a unix socket outside (a container engine, the session bus) runs what it is told"

var (
	connectNotify = []rule{{
		calls: []call{callConnect}, then: Notify,
		reason: connectReason, source: "unix(7)",
	}}
	connectRefuse = []rule{{
		calls: []call{callConnect}, errno: EACCES,
		reason: connectReason, source: "connect(2): EACCES",
	}}
)

// datagramRules are those of a verdict for unix datagram sockets.
func datagramRules(v Verdict) []rule {
	if v == Allow {
		return nil
	}
	return datagramRefuse
}

var datagramRefuse = []rule{{
	calls: []call{callSocket, callSocketpair},
	when:  "domain is AF_UNIX and type is SOCK_DGRAM or SOCK_RAW",
	checks: []check{
		{word: arg0, values: []uint32{afUnix}},
		{word: arg1, mask: sockTypeMask, values: []uint32{sockDgram, sockRaw}},
	},
	errno:  EACCES,
	name:   "unix-datagrams",
	reason: "sends to any path by an address in memory, also when connected, and Landlock before ABI 9 does not see it",
	source: "socket(2): EACCES; SOCK_RAW becomes SOCK_DGRAM in unix_create, net/unix/af_unix.c",
}}
