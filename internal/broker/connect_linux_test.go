// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// server is a listening socket of the test process.
type server struct{ fd int }

func listen(tb testing.TB, domain, typ int, addr syscall.Sockaddr, backlog int) server {
	tb.Helper()
	fd, err := syscall.Socket(domain, typ|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, addr); err != nil {
		tb.Fatal(err)
	}
	if typ != syscall.SOCK_DGRAM && backlog >= 0 {
		if err := syscall.Listen(fd, backlog); err != nil {
			tb.Fatal(err)
		}
	}
	return server{fd}
}

func listenUnix(tb testing.TB, name string) server {
	tb.Helper()
	return listen(tb, syscall.AF_UNIX, syscall.SOCK_STREAM, &syscall.SockaddrUnix{Name: name}, 16)
}

// contacts takes all connections that have come in and counts them.
func (s server) contacts() int {
	n := 0
	for {
		fd, _, err := syscall.Accept(s.fd)
		if err != nil {
			return n
		}
		_ = syscall.Close(fd)
		n++
	}
}

func (s server) port(tb testing.TB) int {
	tb.Helper()
	sa, err := syscall.Getsockname(s.fd)
	if err != nil {
		tb.Fatal(err)
	}
	return sa.(*syscall.SockaddrInet4).Port
}

// inet4 is an address on the loopback.
func inet4(port int) memory {
	b := binary.NativeEndian.AppendUint16(nil, syscall.AF_INET)
	b = binary.BigEndian.AppendUint16(b, uint16(port))
	return append(b, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
}

func abstractAddress(name string) memory {
	return append(binary.NativeEndian.AppendUint16(nil, syscall.AF_UNIX), "\x00"+name...)
}

// socket has the child make a socket.
func (s *subject) socket(tb testing.TB, domain, typ int) int {
	tb.Helper()
	o := s.call(tb, syscall.SYS_SOCKET, domain, typ, 0)
	if o.Errno != 0 {
		tb.Fatal(o)
	}
	return int(o.Value)
}

func (s *subject) connect(tb testing.TB, fd int, addr memory) outcome {
	tb.Helper()
	return s.call(tb, syscall.SYS_CONNECT, fd, addr, len(addr))
}

// TestConnectErrors compares results with the kernel's own, on sockets of
// every type and addresses of every shape, where everything is allowed.
func TestConnectErrors(t *testing.T) {
	f := makeFolders(t)
	t.Chdir(f.w)
	listenUnix(t, "stream")
	listen(t, syscall.AF_UNIX, syscall.SOCK_DGRAM, &syscall.SockaddrUnix{Name: "dgram"}, 0)
	listen(t, syscall.AF_UNIX, syscall.SOCK_STREAM, &syscall.SockaddrUnix{Name: "deaf"}, -1)
	unreachable := listenUnix(t, "private")
	if err := os.Chmod("private", 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("stream", "link"); err != nil {
		t.Fatal(err)
	}
	open := listen(t, syscall.AF_INET, syscall.SOCK_STREAM, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, 16)
	shut := listen(t, syscall.AF_INET, syscall.SOCK_STREAM, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, -1)

	native := start(t, roleBare, nil, "calls")
	o := f.options(t)
	o.Network = plan.OpenNetwork
	brokered, _ := startBrokered(t, o, "calls", nil)

	stream, dgram, inet := syscall.SOCK_STREAM, syscall.SOCK_DGRAM, syscall.AF_INET
	cases := []struct {
		name        string
		domain, typ int
		addr        memory
		want        syscall.Errno
	}{
		{"stream", syscall.AF_UNIX, stream, unixPath("stream"), 0},
		{"stream without NUL", syscall.AF_UNIX, stream, unixPath("stream")[:8], 0},
		{"stream, no wait", syscall.AF_UNIX, stream | syscall.SOCK_NONBLOCK, unixPath(f.w + "/stream"), 0},
		{"by a link", syscall.AF_UNIX, stream, unixPath("link"), 0},
		{"by self", syscall.AF_UNIX, stream, unixPath("/proc/self/cwd/stream"), 0},
		{"datagram", syscall.AF_UNIX, dgram, unixPath("dgram"), 0},
		{"wrong type", syscall.AF_UNIX, dgram, unixPath("stream"), syscall.EPROTOTYPE},
		{"wrong type too", syscall.AF_UNIX, syscall.SOCK_SEQPACKET, unixPath("stream"), syscall.EPROTOTYPE},
		{"nobody listens", syscall.AF_UNIX, stream, unixPath("deaf"), syscall.ECONNREFUSED},
		{"no socket", syscall.AF_UNIX, stream, unixPath("f"), syscall.ECONNREFUSED},
		{"a folder", syscall.AF_UNIX, stream, unixPath("."), syscall.ECONNREFUSED},
		{"nothing there", syscall.AF_UNIX, stream, unixPath("nothing"), syscall.ENOENT},
		{"below a file", syscall.AF_UNIX, stream, unixPath("f/x"), syscall.ENOTDIR},
		{"no right to write", syscall.AF_UNIX, stream, unixPath("private"), syscall.EACCES},
		{"empty address", syscall.AF_UNIX, stream, memory{}, syscall.EINVAL},
		{"family only", syscall.AF_UNIX, stream, unixPath("")[:2], syscall.EINVAL},
		{"too long", syscall.AF_UNIX, stream, unixPath(strings.Repeat("x", 108)), syscall.EINVAL},
		{"as long as can be", syscall.AF_UNIX, stream, unixPath(strings.Repeat("x", 107)), syscall.ENOENT},
		{"far too long", syscall.AF_UNIX, stream, unixPath(strings.Repeat("x", 200)), syscall.EINVAL},
		{"other family", syscall.AF_UNIX, stream, inet4(1), syscall.EINVAL},
		{"no family", syscall.AF_UNIX, stream, make(memory, 16), syscall.EINVAL},
		{"no family, datagram", syscall.AF_UNIX, dgram, make(memory, 16), 0},
		{"tcp", inet, stream, inet4(open.port(t)), 0},
		{"tcp, no wait", inet, stream | syscall.SOCK_NONBLOCK, inet4(open.port(t)), syscall.EINPROGRESS},
		{"tcp refused", inet, stream, inet4(shut.port(t)), syscall.ECONNREFUSED},
		{"tcp, unix address", inet, stream, unixPath(strings.Repeat("x", 20)), syscall.EAFNOSUPPORT},
		{"udp", inet, dgram, inet4(9), 0},
		{"tcp, short", inet, stream, inet4(9)[:8], syscall.EINVAL},
	}
	for _, c := range cases {
		for name, s := range map[string]*subject{"natively": native, "brokered": brokered} {
			fd := s.socket(t, c.domain, c.typ)
			if o := s.connect(t, fd, c.addr); o.Errno != c.want {
				t.Errorf("%s, %s: %v, not %v", c.name, name, o, c.want)
			}
			if c.want == 0 && c.typ&0xf == stream {
				if o := s.connect(t, fd, c.addr); o.Errno != syscall.EISCONN {
					t.Errorf("%s again, %s: %v", c.name, name, o)
				}
				if fl := s.call(t, syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0); fl.Value&syscall.O_NONBLOCK != int64(c.typ&syscall.SOCK_NONBLOCK) {
					t.Errorf("%s, %s: flags are now %o", c.name, name, fl.Value)
				}
			}
			s.close(t, fd)
		}
	}
	for name, s := range map[string]*subject{"natively": native, "brokered": brokered} {
		fd := s.socket(t, syscall.AF_UNIX, stream)
		file := s.open(t, "f", os.O_RDONLY)
		addr := unixPath("stream")
		for _, c := range []struct {
			args []any
			want syscall.Errno
		}{
			{[]any{fd, addr, -1}, syscall.EINVAL}, {[]any{fd, addr, 129}, syscall.EINVAL}, {[]any{fd, 4096, 10}, syscall.EFAULT},
			{[]any{-1, addr, len(addr)}, syscall.EBADF}, {[]any{file, memory(addr), len(addr)}, syscall.ENOTSOCK},
			{[]any{file, 4096, 10}, syscall.EFAULT},
		} {
			for i := range c.args {
				if b, ok := c.args[i].([]byte); ok {
					c.args[i] = memory(b)
				}
			}
			if o := s.call(t, syscall.SYS_CONNECT, c.args...); o.Errno != c.want {
				t.Errorf("%s, %v: %v, not %v", name, c.args, o, c.want)
			}
		}
	}
	if n := unreachable.contacts(); n != 0 {
		t.Errorf("the private server has %d contacts", n)
	}
}

// TestConnectRefused has servers in places that the command may not write to.
// None of them hears of the command.
func TestConnectRefused(t *testing.T) {
	f := makeFolders(t)
	t.Chdir(f.w)
	allowed, refused := listenUnix(t, "s"), listenUnix(t, "../r/s")
	if err := os.Symlink("../r/s", "link"); err != nil {
		t.Fatal(err)
	}
	tcp := listen(t, syscall.AF_INET, syscall.SOCK_STREAM, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, 16)
	name := fmt.Sprintf("ambit-test-%d", os.Getpid())
	outside := listenUnix(t, "@"+name)

	s, b := startBrokered(t, f.options(t), "calls", nil)
	unix := func() int { return s.socket(t, syscall.AF_UNIX, syscall.SOCK_STREAM) }
	if o := s.connect(t, unix(), unixPath("s")); o.Errno != 0 {
		t.Errorf("allowed: %v", o)
	}
	for _, path := range []string{"../r/s", f.r + "/s", "link", "/proc/self/cwd/link"} {
		if o := s.connect(t, unix(), unixPath(path)); o.Errno != syscall.EACCES {
			t.Errorf("%s: %v", path, o)
		}
	}
	if o := s.connect(t, s.socket(t, syscall.AF_INET, syscall.SOCK_STREAM), inet4(tcp.port(t))); o.Errno != syscall.EACCES {
		t.Errorf("tcp: %v", o)
	}
	if o := s.connect(t, unix(), abstractAddress(name)); o.Errno != syscall.EPERM {
		t.Errorf("abstract: %v", o)
	}
	for name, n := range map[string]int{"refused": refused.contacts(), "tcp": tcp.contacts(), "abstract": outside.contacts()} {
		if n != 0 {
			t.Errorf("the server %s has %d contacts", name, n)
		}
	}
	if n := allowed.contacts(); n != 1 {
		t.Errorf("the allowed server has %d contacts", n)
	}
	if list, _ := b.Denials(); len(list) != 6 {
		t.Errorf("denials: %+v", list)
	}
}

// needsKernel skips the test if the kernel is older, and fails it otherwise.
func needsKernel(t *testing.T, err error, major, minor int) {
	t.Helper()
	if kernelIs(t, major, minor) {
		t.Fatalf("Linux %d.%d should do it: %v", major, minor, err)
	}
	t.Skipf("needs Linux %d.%d: %v", major, minor, err)
}

// kernelIs reports whether the kernel is this one or newer.
func kernelIs(tb testing.TB, major, minor int) bool {
	tb.Helper()
	release, err := sys.KernelRelease()
	if err != nil {
		tb.Fatal(err)
	}
	var have [2]int
	if _, err := fmt.Sscanf(release, "%d.%d", &have[0], &have[1]); err != nil {
		tb.Fatal(err)
	}
	return have[0] > major || have[0] == major && have[1] >= minor
}

// playWait connects to a socket whose queue is full, on one thread, and says
// on stdout what happens; on another it changes modes meanwhile, and it tells
// when it gets SIGUSR1. Arguments: the path of a unix socket or a TCP port on
// the loopback, a file, SO_SNDTIMEO in seconds.
func playWait(args []string) error {
	limit, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1)
	domain, to := syscall.AF_UNIX, syscall.Sockaddr(&syscall.SockaddrUnix{Name: args[0]})
	if port, err := strconv.Atoi(args[0]); err == nil {
		domain, to = syscall.AF_INET, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
	}
	fd, err := syscall.Socket(domain, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &syscall.Timeval{Sec: int64(limit)}); err != nil {
		return err
	}
	go func() {
		for range got {
			fmt.Println("signal")
		}
	}()
	go func() {
		for i := 0; ; i++ {
			began := time.Now()
			if err := syscall.Chmod(args[1], uint32(0o600+i%2)); err != nil {
				fmt.Println("chmod", err)
			}
			if i == 0 {
				fmt.Println("chmod done")
			}
			if took := time.Since(began); took > patient {
				fmt.Println("chmod took", took)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	err = syscall.Connect(fd, to)
	fmt.Println("connect", err)
	time.Sleep(time.Minute)
	return nil
}

// fullServer listens with room for one connection, which is taken.
func fullServer(tb testing.TB, domain int, addr syscall.Sockaddr) server {
	tb.Helper()
	s := listen(tb, domain, syscall.SOCK_STREAM, addr, 0)
	bound, err := syscall.Getsockname(s.fd)
	if err != nil {
		tb.Fatal(err)
	}
	fd, err := syscall.Socket(domain, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Connect(fd, bound); err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestBlockingConnect: while one thread waits for a server, others are
// served; a signal reaches it, and the call goes on; and it ends when the
// server takes it, when the time is over, or when the caller is killed.
func TestBlockingConnect(t *testing.T) {
	type beginning func(testing.TB, Options, ...string) caller
	natively := func(tb testing.TB, _ Options, args ...string) caller {
		return caller{start(tb, roleBare, nil, append([]string{"wait"}, args...)...), nil}
	}
	brokered := func(tb testing.TB, o Options, args ...string) caller {
		s, b := startBrokered(tb, o, "wait", nil, args...)
		return caller{s, b}
	}
	for how, begin := range map[string]beginning{"natively": natively, "brokered": brokered} {
		for _, domain := range []int{syscall.AF_UNIX, syscall.AF_INET} {
			t.Run(fmt.Sprintf("%s %d", how, domain), func(t *testing.T) {
				f := makeFolders(t)
				t.Chdir(f.w)
				var addr syscall.Sockaddr = &syscall.SockaddrUnix{Name: "s"}
				if domain == syscall.AF_INET {
					addr = &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
				}
				srv := fullServer(t, domain, addr)
				to, late := "s", "connect resource temporarily unavailable"
				if domain == syscall.AF_INET {
					to, late = strconv.Itoa(srv.port(t)), "connect operation now in progress"
				}
				o := f.options(t)
				o.Network = plan.OpenNetwork
				call := func(limit string) caller {
					c := begin(t, o, to, filepath.Join(f.w, "f"), limit)
					c.says(t, "chmod done")
					return c
				}
				call("1").says(t, late)
				dieWaiting(t, call("0"))
				signalWaiting(t, call("0"), srv)
			})
		}
	}
}

// caller is a child that connects, and its broker, if it has one.
type caller struct {
	*subject
	b *Broker
}

// waits waits until the child sleeps in its call, and the broker has that.
func (c caller) waits(tb testing.TB) {
	tb.Helper()
	waitFor(tb, "a child that waits", func() bool {
		return c.blockedIn(tb, syscall.SYS_CONNECT) == 1 && (c.b == nil || c.b.waiting.Load() > 0)
	})
}

// signalWaiting sends a signal to a child that waits, and makes room for it.
func signalWaiting(t *testing.T, s caller, srv server) {
	s.waits(t)
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.says(t, "signal")
	s.waits(t)
	n, stop, done := 0, make(chan struct{}), make(chan struct{})
	go func() { // earlier callers, whose attempts go on, take the room too
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				n += srv.contacts()
			}
		}
	}()
	s.says(t, "connect <nil>")
	close(stop)
	<-done
	if n += srv.contacts(); n < 2 {
		t.Errorf("%d contacts, not the one that filled the queue and the child's", n)
	}
}

// dieWaiting kills a child that waits.
func dieWaiting(t *testing.T, s caller) {
	s.waits(t)
	began := time.Now()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	if took := time.Since(began); took > patient/2 {
		t.Errorf("it took %v to die", took)
	}
}
