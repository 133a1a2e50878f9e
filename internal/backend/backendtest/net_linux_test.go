// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"net"
	"os"
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

// TestInheritedSocket: a socket that came as stdin leads nowhere new. What it
// is connected to already, the caller has chosen himself.
func TestInheritedSocket(t *testing.T) {
	w := newWorld(t)
	tcp, udp := greet(t, "tcp4", "127.0.0.1:0"), receive(t, "udp4", "127.0.0.1:0")
	for _, c := range []struct {
		name, network string
		op            []string
		want          string
	}{
		{"connect", "tcp", []string{"connect-fd", "0", tcp.Addr().String()}, "EACCES"},
		{"fast open", "tcp", []string{"fast-open-fd", "0", tcp.Addr().String()}, "EACCES"},
		{"send", "udp", []string{"send-fd", "0", udp.LocalAddr().String()}, "EACCES"},
		{"connect datagram", "udp", []string{"connect-fd", "0", udp.LocalAddr().String()}, "EACCES"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{c.op})...)
			cmd.Stdin = unconnected(t, c.network)
			before := tcp.met.Load() + udp.got.Load()
			if r := replies(t, finish(t, cmd), 1)[0]; r.outcome != c.want {
				t.Errorf("%v, want %s", r, c.want)
			}
			if n := tcp.met.Load() + udp.got.Load() - before; n != 0 {
				t.Errorf("%d connections or datagrams arrived", n)
			}
		})
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
		cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{{"talk-fd", "0"}})...)
		cmd.Stdin = f
		if r := replies(t, finish(t, cmd), 1)[0]; r != (reply{"OK", "hello"}) {
			t.Errorf("%v, want the greeting: stdin is what the caller gave", r)
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
