// SPDX-License-Identifier: Apache-2.0

package seccomp

import "testing"

// TestRefused holds the answers of the broker against the filter: what is
// trapped only to be recorded gets the errno that the same filter answers
// without a listener, and nothing else is refused that way.
func TestRefused(t *testing.T) {
	trapped := 0
	for _, arch := range testArches {
		for i, c := range configs() {
			if i%61 != 0 { // their rules on trapped calls are few
				continue
			}
			c.Refusals = RefusalsBare
			bare := mustCompile(t, arch.name, c).Instructions()
			c.Refusals = RefusalsTrapped
			code := mustCompile(t, arch.name, c).Instructions()
			for nr, name := range plainNames[arch.name] {
				for i := 0; i < len(combinations); i += 101 {
					d := data{nr: nr, arch: arch.audit, args: combinations[i]}
					without, _ := interpret(t, bare, d)
					with, _ := interpret(t, code, d)
					r, ok := Refused(arch.name, c, nr, d.args)
					if ok != (without != with) || ok && (with != retNotify || without != failWith(r.Errno) || r.Call != name || r.Name == "" || r.Reason == "" || r.Asked == "") {
						t.Fatalf("%s %+v: %s with %#x: %+v, %v; the filter answers %#x, trapped %#x", arch.name, c, name, d.args, r, ok, without, with)
					}
					if ok {
						trapped++
					}
				}
			}
		}
	}
	if trapped < 10000 {
		t.Errorf("only %d calls were trapped", trapped)
	}
	if _, ok := Refused("riscv64", Config{}, 41, [6]uint64{2, 1}); ok {
		t.Error("an architecture without a filter has refusals")
	}
}

// TestAsked says in words what calls ask for, and which of them use a network.
func TestAsked(t *testing.T) {
	const cloexec, nonblock = 0x80000, 0x800
	open := Config{Network: NetworkOpen, Refusals: RefusalsTrapped}
	for _, c := range []struct {
		call  string
		args  [6]uint64
		c     Config
		name  string
		asked string
		use   NetworkUse
		errno Errno
	}{
		{"socket", [6]uint64{2, 1 | cloexec, 6}, Config{}, "network", "AF_INET SOCK_STREAM socket", NetworkUsed, EACCES},
		{"socket", [6]uint64{10, 1, 0}, Config{}, "network", "AF_INET6 SOCK_STREAM socket", NetworkUsed, EACCES},
		{"socket", [6]uint64{2, 2 | cloexec | nonblock, 0}, Config{}, "network", "AF_INET SOCK_DGRAM socket", NetworkUsed, EACCES},
		{"socket", [6]uint64{2, 2 | cloexec, 0}, Config{}, "network", "AF_INET SOCK_DGRAM socket", NetworkProbed, EACCES},
		{"socket", [6]uint64{10, 2, 17}, Config{}, "network", "AF_INET6 SOCK_DGRAM socket", NetworkProbed, EACCES},
		{"socket", [6]uint64{2, 2, 1}, Config{}, "network", "AF_INET SOCK_DGRAM socket", NetworkUsed, EACCES}, // ping(8)
		{"socket", [6]uint64{16, 3 | cloexec, 0}, Config{}, "network", "AF_NETLINK SOCK_RAW socket", NetworkListed, EACCES},
		{"socket", [6]uint64{16, 3, 9}, Config{}, "network", "AF_NETLINK SOCK_RAW socket", NetworkNotMeant, EACCES},
		{"socket", [6]uint64{2, 3, 1}, Config{}, "network", "AF_INET SOCK_RAW socket", NetworkNotMeant, EACCES},
		{"socket", [6]uint64{40, 1, 0}, Config{}, "network", "AF_VSOCK SOCK_STREAM socket", NetworkNotMeant, EACCES},
		{"socket", [6]uint64{99, 77, 0}, Config{}, "network", "domain 99 type 13 socket", NetworkNotMeant, EACCES},
		{"socketpair", [6]uint64{30, 1, 0}, Config{}, "network", "AF_TIPC SOCK_STREAM socketpair", NetworkNotMeant, EACCES},
		{"socket", [6]uint64{17, 3, 0}, open, "socket-families", "AF_PACKET SOCK_RAW socket", NetworkNotMeant, EACCES},
		{"socket", [6]uint64{2, 3, 1}, open, "raw-sockets", "AF_INET SOCK_RAW socket", NetworkNotMeant, EPERM},
		{"socket", [6]uint64{1, 2, 0}, Config{}, "unix-datagrams", "AF_UNIX SOCK_DGRAM socket", NetworkNotMeant, EACCES},
		{"clone", [6]uint64{0x10000000 | 0x91}, Config{}, "namespaces", "CLONE_NEWUSER", NetworkNotMeant, EPERM},
		{"unshare", [6]uint64{0x10020080}, Config{}, "namespaces", "CLONE_NEWTIME CLONE_NEWNS CLONE_NEWUSER", NetworkNotMeant, EPERM},
		{"unshare", [6]uint64{1 << 40}, Config{}, "namespaces", "flags 0x10000000000", NetworkNotMeant, EPERM},
		{"keyctl", [6]uint64{}, Config{}, "keyrings", "keyrings", NetworkNotMeant, ENOSYS},
		{"ioctl", [6]uint64{0, 0x5412}, Config{}, "terminal", "TIOCSTI", NetworkNotMeant, EPERM},
		{"prlimit64", [6]uint64{1, 7, 8}, Config{}, "processes", "process 1", NetworkNotMeant, EPERM},
	} {
		nr, known := Number("amd64", c.call)
		r, ok := Refused("amd64", c.c, nr, c.args)
		if !known || !ok || r.Name != c.name || r.Asked != c.asked || r.Network != c.use || r.Errno != c.errno || r.Call != c.call {
			t.Errorf("%s%#x: %+v, %v", c.call, c.args, r, ok)
		}
	}
	for name, args := range map[string][6]uint64{"socket": {2, 1, 6}, "clone": {17}, "unshare": {0x200}, "read": {}} {
		nr, _ := Number("amd64", name)
		if r, ok := Refused("amd64", open, nr, args); ok {
			t.Errorf("the control %s%#x is refused: %+v", name, args, r)
		}
	}
}
