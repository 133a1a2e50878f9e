// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"strings"
	"testing"
)

// TestNetworkDenied: a use of the network is told whatever the exit code, what
// libraries also do by themselves only after a failure.
func TestNetworkDenied(t *testing.T) {
	used := Denial{Call: "socket", Named: "AF_INET SOCK_STREAM socket", Errno: "EACCES", Network: NetworkUsed}
	probed := Denial{Call: "socket", Named: "AF_INET SOCK_DGRAM socket", Errno: "EACCES", Network: NetworkProbed}
	listed := Denial{Call: "socket", Named: "AF_NETLINK SOCK_RAW socket", Errno: "EACCES", Network: NetworkListed}
	file := Denial{Call: "openat", Named: "f", Errno: "EACCES"}
	const tried, may = "tried to use it (AF_INET SOCK_STREAM socket: EACCES)", "may have been meant for it (AF_INET SOCK_DGRAM socket: EACCES)"
	for name, c := range map[string]struct {
		list           []Denial
		succeeded, not string
	}{
		"nothing": {nil, "", ""}, "a file": {[]Denial{file}, "", ""},
		"used": {[]Denial{used, file}, tried, tried}, "probed": {[]Denial{probed}, "", may},
		"listed": {[]Denial{listed}, "", ""}, "all": {[]Denial{used, probed, listed, file}, tried, tried},
	} {
		for code, want := range map[int]string{0: c.succeeded, 1: c.not} {
			if got := NetworkDenied(c.list, code); (got == "") != (want == "") || !strings.HasSuffix(got, want) {
				t.Errorf("%s, exit code %d: %q, want %q", name, code, got, want)
			}
		}
	}
	for _, d := range []Denial{used, probed, listed} {
		if g := NetworkGrant(&d); g == nil || g.Flag != "--allow-network" || g.Policy.AllowNetwork == nil || !*g.Policy.AllowNetwork {
			t.Errorf("%s: %+v", d.Named, g)
		}
	}
	if g := NetworkGrant(&file); g != nil {
		t.Errorf("a file: %+v", g)
	}
}
