// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"syscall"
	"testing"
)

// families are all that Linux has (AF_MAX is 46, linux/socket.h), AF_UNSPEC
// too; the types are those that any family has.
const families = 46

var allTypes = []int{syscall.SOCK_STREAM, syscall.SOCK_DGRAM, syscall.SOCK_RAW, syscall.SOCK_RDM, syscall.SOCK_SEQPACKET, syscall.SOCK_PACKET}

// family is a family and type of sockets, and what making one must answer.
type family struct{ domain, kind, protocol int }

func everyFamily() (out []family) {
	for domain := range families {
		for _, kind := range allTypes {
			out = append(out, family{domain, kind, 0})
		}
	}
	return out
}

// datagramUnix says what unix datagram sockets answer: below ABI 9 they are
// closed, since they send to any path by an address in memory.
func datagramUnix() string {
	if landlockABI() < abiUnix {
		return "EACCES"
	}
	return "OK"
}

// unixWant is what making a unix socket answers, with any network policy.
func unixWant(kind int, control string) string {
	if kind == syscall.SOCK_DGRAM || kind == syscall.SOCK_RAW {
		return datagramUnix()
	}
	return control
}

// tryFamilies makes a socket, or a pair, of every kind in one sandbox, and
// compares with the same calls without one.
func tryFamilies(t *testing.T, call string, flags []string, want func(family, string) string) {
	w := newWorld(t)
	kinds := append(everyFamily(),
		family{syscall.AF_INET, syscall.SOCK_STREAM, 6}, family{syscall.AF_INET, syscall.SOCK_DGRAM, 17},
		family{syscall.AF_INET, syscall.SOCK_DGRAM, 1}, family{syscall.AF_INET6, syscall.SOCK_DGRAM, 58}, // ping
		family{syscall.AF_INET, syscall.SOCK_STREAM, 262}, // MPTCP
		family{syscall.AF_INET, syscall.SOCK_STREAM, 132}, // SCTP
		family{syscall.AF_INET, syscall.SOCK_STREAM, 256}, // SMC
		family{syscall.AF_NETLINK, syscall.SOCK_RAW, 15},  // uevents
		family{syscall.AF_NETLINK, syscall.SOCK_RAW, 12},  // netfilter
		family{syscall.AF_INET, syscall.SOCK_STREAM | syscall.SOCK_CLOEXEC | syscall.SOCK_NONBLOCK, 0},
	)
	var ops [][]string
	for _, k := range kinds {
		ops = append(ops, []string{call, fmt.Sprint(k.domain), fmt.Sprint(k.kind), fmt.Sprint(k.protocol), "#8"})
	}
	got, free := w.inside(w.policyFlags(flags...), ops...), w.unconfined(ops...)
	open, works := 0, 0
	for i, k := range kinds {
		if free[i].outcome == "OK" {
			works++
		}
		if got[i].outcome == "OK" {
			open++
		}
		if want := want(k, free[i].outcome); got[i].outcome != want {
			t.Errorf("%s(%d, %d, %d): %s, want %s (without a sandbox %s)", call, k.domain, k.kind, k.protocol, got[i].outcome, want, free[i].outcome)
		}
	}
	// Otherwise the refusals might be a machine's without any network.
	if works < 3 || open < 2 {
		t.Errorf("only %d kinds of %s work without a sandbox, and %d within", works, call, open)
	}
}

func TestFamilies(t *testing.T) {
	for _, call := range []string{"socket", "socketpair"} {
		t.Run(call+" without network", func(t *testing.T) {
			tryFamilies(t, call, nil, func(k family, control string) string {
				if k.domain == syscall.AF_UNIX {
					return unixWant(k.kind, control)
				}
				return "EACCES"
			})
		})
	}
	t.Run("socket with network", func(t *testing.T) {
		tryFamilies(t, "socket", []string{"--allow-network"}, openFamily)
	})
	t.Run("socketpair with network", func(t *testing.T) {
		tryFamilies(t, "socketpair", []string{"--allow-network"}, func(k family, control string) string {
			if k.domain == syscall.AF_UNIX {
				return unixWant(k.kind, control)
			}
			return "EACCES"
		})
	})
}

// openFamily is what an open network is: TCP, UDP and unprivileged ICMP over
// IPv4 and IPv6, and the netlink by which programs list interfaces.
func openFamily(k family, control string) string {
	kind := k.kind & 0xf
	switch {
	case k.domain == syscall.AF_UNIX:
		return unixWant(k.kind, control)
	case k.domain == syscall.AF_NETLINK && k.protocol == 0:
		return control
	case k.domain != syscall.AF_INET && k.domain != syscall.AF_INET6:
		return "EACCES"
	case kind == syscall.SOCK_RAW || kind == syscall.SOCK_PACKET:
		return "EPERM"
	case kind != syscall.SOCK_STREAM && kind != syscall.SOCK_DGRAM:
		return "EPROTONOSUPPORT"
	}
	switch k.protocol {
	case 0, syscall.IPPROTO_TCP, syscall.IPPROTO_UDP, syscall.IPPROTO_ICMP, syscall.IPPROTO_ICMPV6:
		return control
	}
	return "EPROTONOSUPPORT"
}
