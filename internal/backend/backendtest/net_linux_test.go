// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"net"
	"os"
	"slices"
	"sync/atomic"
	"testing"
)

// greeter is a server outside the sandbox that greets whoever connects, and
// counts them.
type greeter struct {
	net.Listener
	met atomic.Int64
}

func greet(t testing.TB, network, address string) *greeter {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	g := &greeter{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.met.Add(1)
			_, _ = c.Write([]byte("hello"))
			_ = c.Close()
		}
	}()
	return g
}

// mailbox is a datagram socket outside that counts what arrives.
type mailbox struct {
	net.PacketConn
	got atomic.Int64
}

func receive(t testing.TB, network, address string) *mailbox {
	t.Helper()
	c, err := net.ListenPacket(network, address)
	if err != nil {
		t.Fatal(err)
	}
	m := &mailbox{PacketConn: c}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		buf := make([]byte, 64)
		for {
			if _, _, err := c.ReadFrom(buf); err != nil {
				return
			}
			m.got.Add(1)
		}
	}()
	return m
}

// TestNetwork: nothing leaves without allow_network, and with it everything
// works that works without a sandbox.
func TestNetwork(t *testing.T) {
	w := newWorld(t)
	tcp, tcp6 := greet(t, "tcp4", "127.0.0.1:0"), greet(t, "tcp6", "[::1]:0")
	udp, udp6 := receive(t, "udp4", "127.0.0.1:0"), receive(t, "udp6", "[::1]:0")
	ops := []struct {
		op    []string
		fails string // where the call fails without network
	}{
		{[]string{"talk", tcp.Addr().String(), "stream"}, "socket"},
		{[]string{"talk", tcp6.Addr().String(), "stream"}, "socket"},
		{[]string{"send", udp.LocalAddr().String(), "x"}, "socket"},
		{[]string{"send", udp.LocalAddr().String(), "x", "connected"}, "socket"},
		{[]string{"send", udp6.LocalAddr().String(), "x"}, "socket"},
		{[]string{"fast-open", tcp.Addr().String()}, "socket"},
		{[]string{"bind", "127.0.0.1:0", "stream"}, "socket"},
		{[]string{"bind", "127.0.0.1:0", "datagram"}, "socket"},
		{[]string{"serve", "127.0.0.1:0", "stream"}, "socket"},
	}
	var all [][]string
	for _, o := range ops {
		all = append(all, o.op)
	}
	met := func() int64 { return tcp.met.Load() + tcp6.met.Load() + udp.got.Load() + udp6.got.Load() }
	for i, r := range w.inside(w.policyFlags(), all...) {
		if r != (reply{"EACCES", ops[i].fails}) {
			t.Errorf("%q: %v, want EACCES of %s", ops[i].op, r, ops[i].fails)
		}
	}
	if n := met(); n != 0 {
		t.Errorf("%d connections or datagrams arrived", n)
	}
	free := w.unconfined(all...)
	before := met()
	for i, r := range w.inside(w.policyFlags("--allow-network"), all...) {
		if r != free[i] {
			t.Errorf("with network, %q: %v, want %v", ops[i].op, r, free[i])
		}
		if free[i].outcome != "OK" && ops[i].op[0] != "fast-open" {
			t.Errorf("without a sandbox, %q: %v: this machine can't prove anything", ops[i].op, free[i])
		}
	}
	eventually(t, "with network, six messages arrive", func() bool { return met()-before >= 5 })
}

// TestInheritedSocket: the command gets no socket of the network as a
// standard descriptor, but a pipe that ambit fills or empties: what it is
// connected to the caller has chosen himself, and it leads nowhere else.
func TestInheritedSocket(t *testing.T) {
	w := newWorld(t)
	tcp, udp := greet(t, "tcp4", "127.0.0.1:0"), receive(t, "udp4", "127.0.0.1:0")
	for _, c := range []struct {
		name, network string
		op            []string
	}{
		{"connect", "tcp", []string{"connect-fd", "FD", tcp.Addr().String()}},
		{"fast open", "tcp", []string{"fast-open-fd", "FD", tcp.Addr().String()}},
		{"send", "udp", []string{"send-fd", "FD", udp.LocalAddr().String()}},
		{"connect datagram", "udp", []string{"connect-fd", "FD", udp.LocalAddr().String()}},
	} {
		for _, fd := range []string{"0", "2"} {
			t.Run(c.name+" "+fd, func(t *testing.T) {
				op := slices.Clone(c.op)
				op[1] = fd
				cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{op})...)
				if fd == "0" {
					cmd.Stdin = unconnected(t, c.network)
				} else {
					cmd.Stderr = unconnected(t, c.network)
				}
				before := tcp.met.Load() + udp.got.Load()
				if r := replies(t, finish(t, cmd), 1)[0]; r.outcome != "ENOTSOCK" {
					t.Errorf("%v, want ENOTSOCK", r)
				}
				if n := tcp.met.Load() + udp.got.Load() - before; n != 0 {
					t.Errorf("%d connections or datagrams arrived", n)
				}
			})
		}
	}
	t.Run("connected", func(t *testing.T) {
		c, err := net.Dial("tcp4", tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		f, err := c.(*net.TCPConn).File()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		cmd := w.sandbox(nil, "/bin/cat")
		cmd.Stdin = f
		if r := finish(t, cmd); r.code != 0 || r.stdout != "hello" {
			t.Errorf("ended with %d, read %q: stdin is what the caller gave", r.code, r.stdout)
		}
	})
}

// unconnected makes a socket that a command may get as stdin.
func unconnected(t testing.TB, network string) *os.File {
	t.Helper()
	f, err := newSocket(network)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
