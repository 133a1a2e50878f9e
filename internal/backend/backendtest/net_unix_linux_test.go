// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

func newSocket(network string) (*os.File, error) {
	kind := map[string]int{"tcp": syscall.SOCK_STREAM, "udp": syscall.SOCK_DGRAM}[network]
	fd, err := syscall.Socket(syscall.AF_INET, kind|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), network), nil
}

// TestUnixPathname: connecting to a socket file needs write on its path,
// under every name of it.
func TestUnixPathname(t *testing.T) {
	w := newWorld(t)
	met := map[string]*greeter{}
	var ops [][]string
	var want []string
	for _, place := range []struct{ name, want string }{{"work", "OK"}, {"read", "EACCES"}, {"outside", "EACCES"}} {
		for _, kind := range []struct{ network, name string }{{"unix", "stream"}, {"unixpacket", "seqpacket"}} {
			s := place.name + "/" + kind.name
			met[s] = greet(t, kind.network, w.at(s))
			link := "to-" + place.name + "-" + kind.name
			w.must(os.Symlink(w.at(s), w.at("work/"+link)))
			for _, form := range []string{w.at(s), "../" + s, link, "/proc/self/cwd/../" + s, "/proc/self/root" + w.at(s)} {
				ops = append(ops, []string{"talk", form, kind.name})
				want = append(want, place.want)
			}
			ops = append(ops, []string{"talk-through", w.at(s), kind.name})
			want = append(want, place.want)
		}
	}
	for i, r := range w.inside(w.policyFlags(), ops...) {
		t.Run(fmt.Sprintf("%q", ops[i]), func(t *testing.T) {
			if r.outcome != want[i] || r.outcome == "OK" && r.detail != "hello" {
				t.Errorf("%v, want %s", r, want[i])
			}
		})
	}
	for s, g := range met {
		switch n := g.met.Load(); {
		case s == "work/stream" || s == "work/seqpacket":
			if n != 6 {
				t.Errorf("%d connections to %s, want 6", n, s)
			}
		case n != 0:
			t.Errorf("%d connections to %s arrived", n, s)
		}
	}
	w.tryAll(w.policyFlags(), []attempt{
		{"serve %work/own stream", "OK", "word"},
		{"serve %work/packets seqpacket", "OK", "word"},
		{"talk %work/missing stream", "ENOENT", "connect"},
		{"bind %read/new stream", "EACCES", "bind"},
		{"bind %outside/new stream", "EACCES", "bind"},
	})
}

// TestUnixLinked: a closed socket file is closed by its other names too, as
// other files are.
func TestUnixLinked(t *testing.T) {
	w := newWorld(t)
	closed, open := greet(t, "unix", w.at("work/closed")), greet(t, "unix", w.at("work/open"))
	for _, name := range []string{"closed", "open"} {
		w.must(os.Link(w.at("work/"+name), w.at("work/"+name+"-linked")))
	}
	flags := []string{"--block", w.at("work/closed")}
	if landlockABI() < abiRefer { // there is nothing nested
		return
	}
	w.tryAll(w.policyFlags(flags...), []attempt{
		{"talk %work/open stream", "OK", "hello"},
		{"talk %work/open-linked stream", "OK", "hello"},
		{"talk %work/closed stream", "EACCES", "connect"},
		{"talk %work/closed-linked stream", "EACCES", "connect"},
	})
	if closed.met.Load() != 0 || open.met.Load() != 2 {
		t.Errorf("%d connections to the closed one arrived, %d to the other", closed.met.Load(), open.met.Load())
	}
}

// TestUnixAbstract: names without a file belong to their sandbox.
func TestUnixAbstract(t *testing.T) {
	w := newWorld(t)
	name := fmt.Sprintf("@ambit-backendtest-%d", os.Getpid())
	g := greet(t, "unix", name)
	own := "OK"
	if landlockABI() < abiScope {
		own = "EPERM" // the broker can't tell whose a name is
		w.covers("unix.abstract", "enforced", "broker")
	}
	w.tryAll(w.policyFlags(), []attempt{
		{"talk " + name + " stream", "EPERM", "connect"},
		{"serve " + name + "-own stream", own, ""},
	})
	if g.met.Load() != 0 {
		t.Error("the abstract socket outside was reached")
	}
	if r := w.unconfined([]string{"talk", name, "stream"})[0]; r != (reply{"OK", "hello"}) {
		t.Errorf("without a sandbox: %v", r)
	}
}

// TestUnixDatagram: they can be sent without connecting.
func TestUnixDatagram(t *testing.T) {
	w := newWorld(t)
	boxes := map[string]*mailbox{}
	for _, place := range []string{"work", "read", "outside"} {
		boxes[place] = receive(t, "unixgram", w.at(place+"/box"))
	}
	name := fmt.Sprintf("@ambit-backendtest-box-%d", os.Getpid())
	boxes["abstract"] = receive(t, "unixgram", name)
	var as []attempt
	for _, a := range []attempt{
		{"send %work/box x", "OK", ""},
		{"send %work/box x connected", "OK", ""},
		{"send %read/box x", "EACCES", "sendto"},
		{"send %read/box x connected", "EACCES", "connect"},
		{"send %outside/box x", "EACCES", "sendto"},
		{"send %outside/box x connected", "EACCES", "connect"},
		{"send " + name + " x", "EPERM", "sendto"},
		{"send " + name + " x connected", "EPERM", "connect"},
		{"serve %work/own-box datagram", "OK", "word"},
	} {
		if landlockABI() < abiUnix {
			a.want, a.detail = "EACCES", "socket"
		}
		as = append(as, a)
	}
	w.tryAll(w.policyFlags(), as)
	want := int64(0)
	if landlockABI() >= abiUnix {
		want = 2
	}
	eventually(t, "datagrams to the write tree arrive", func() bool { return boxes["work"].got.Load() == want })
	for _, place := range []string{"read", "outside", "abstract"} {
		if n := boxes[place].got.Load(); n != 0 {
			t.Errorf("%d datagrams arrived at %q", n, place)
		}
	}
	for _, to := range []string{w.at("outside/box"), name} {
		if r := w.unconfined([]string{"send", to, "x"})[0]; r.outcome != "OK" {
			t.Errorf("without a sandbox, to %s: %v", to, r)
		}
	}
}
