// SPDX-License-Identifier: Apache-2.0

package sdnotify_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sdnotify"
)

// listen is a manager's socket.
func listen(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func receive(t *testing.T, c *net.UnixConn) string {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 1024)
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestSend(t *testing.T) {
	dir, err := os.MkdirTemp("", "sn") // short: sun_path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	names := []string{filepath.Join(dir, "notify")}
	if runtime.GOOS == "linux" {
		names = append(names, "@ambit-notify-test-"+strconv.Itoa(os.Getpid()))
	}
	for _, name := range names {
		c := listen(t, name)
		t.Setenv("NOTIFY_SOCKET", name)
		t.Setenv("WATCHDOG_USEC", "30000000")
		t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
		s, err := sdnotify.Open()
		if err != nil || !s.Asked() || s.Watchdog() != 30*time.Second {
			t.Fatalf("%s: %+v %v", name, s, err)
		}
		for _, v := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
			if _, there := os.LookupEnv(v); there {
				t.Errorf("%s is left for what this process starts", v)
			}
		}
		if err := s.Send(sdnotify.Ready, sdnotify.Status("two\nlines")); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, c); got != "READY=1\nSTATUS=two lines" {
			t.Errorf("%s: sent %q", name, got)
		}
		_ = c.Close()
		if err := s.Send(sdnotify.Alive); err == nil {
			t.Errorf("%s: a manager that is gone took a message", name)
		}
	}
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name, socket, usec, pid string
		asked, fails            bool
		watchdog                time.Duration
	}{
		{name: "no manager", usec: "5"},
		{name: "no watchdog", socket: "/run/n", asked: true},
		{name: "another process's watchdog", socket: "/run/n", usec: "5", pid: "1", asked: true},
		{name: "a watchdog for whoever reads", socket: "/run/n", usec: "5", asked: true, watchdog: 5 * time.Microsecond},
		{name: "no path", socket: "vsock:2:1", fails: true},
		{name: "no number", socket: "/run/n", usec: "soon", fails: true},
		{name: "zero", socket: "/run/n", usec: "0", fails: true},
	} {
		t.Setenv("NOTIFY_SOCKET", c.socket)
		t.Setenv("WATCHDOG_USEC", c.usec)
		t.Setenv("WATCHDOG_PID", c.pid)
		s, err := sdnotify.Open()
		if (err != nil) != c.fails || s.Asked() != c.asked || s.Watchdog() != c.watchdog {
			t.Errorf("%s: %+v %v", c.name, s, err)
		}
	}
	var none *sdnotify.Socket
	if err := none.Send(sdnotify.Ready); err != nil {
		t.Error(err)
	}
}
