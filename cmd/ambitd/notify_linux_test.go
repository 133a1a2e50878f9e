// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manager is a service manager's end of sd_notify(3).
type manager struct {
	t *testing.T
	c *net.UnixConn
}

func newManager(t *testing.T, name string) *manager {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &manager{t, c}
}

// next is the next message; empty if none comes within the time.
func (m *manager) next(within time.Duration) string {
	m.t.Helper()
	if err := m.c.SetReadDeadline(time.Now().Add(within)); err != nil {
		m.t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, err := m.c.Read(b)
	if err != nil && !os.IsTimeout(err) {
		m.t.Fatal(err)
	}
	return string(b[:n])
}

// startNotified is a service whose manager wants a sign of life every three
// seconds, and whose commands get its whole environment.
func startNotified(t *testing.T) (*service, *manager) {
	t.Helper()
	s := prepared(t)
	m := newManager(t, s.dir+"/notify")
	s.env = []string{"NOTIFY_SOCKET=" + s.dir + "/notify", "WATCHDOG_USEC=3000000"}
	s.start(map[string]any{"policy": map[string]any{"extends": "workspace", "env": map[string]any{"pass": []string{"*"}}}})
	return s, m
}

// TestNotify: the manager hears that the service is ready when it answers, that
// it lives as long as it answers, and that it ends. What the service starts
// can't speak in its name.
func TestNotify(t *testing.T) {
	s, m := startNotified(t)
	if got := m.next(patience); got != "READY=1\nSTATUS=listening, commands can be run" {
		t.Fatalf("the first message is %q\n%s", got, s.log)
	}
	if a := s.run(`env`, nil); a.status != 200 || strings.Contains(a.str("stdout"), "NOTIFY_SOCKET") || strings.Contains(a.str("stdout"), "WATCHDOG") || !strings.Contains(a.str("stdout"), "PATH=") {
		t.Errorf("%s", a.raw)
	}
	for range 2 {
		if got := m.next(patience); !strings.HasPrefix(got, "WATCHDOG=1\nSTATUS=") {
			t.Errorf("a sign of life is %q", got)
		}
	}
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
	last := ""
	for got := "-"; got != ""; got = m.next(time.Second) {
		last = got
	}
	if last != "STOPPING=1\nSTATUS=ending the runs" {
		t.Errorf("the last message is %q", last)
	}
}

// TestWatchdog: a service that lives but can't be reached any more gives no
// sign of life.
func TestWatchdog(t *testing.T) {
	s, m := startNotified(t)
	if got := m.next(patience); !strings.HasPrefix(got, "READY=1\n") {
		t.Fatalf("the first message is %q\n%s", got, s.log)
	}
	if got := m.next(patience); !strings.Contains(got, "WATCHDOG=1") {
		t.Fatalf("no sign of life: %q", got)
	}
	if err := os.Rename(s.dir+"/s/sock", s.dir+"/s/away"); err != nil {
		t.Fatal(err)
	}
	// what was under way when the name went may still arrive
	for range 2 {
		if m.next(4*time.Second) == "" {
			break
		}
	}
	if got := m.next(10 * time.Second); got != "" {
		t.Errorf("a sign of life from a service that nobody can reach: %q", got)
	}
	if err := os.Rename(s.dir+"/s/away", s.dir+"/s/sock"); err != nil {
		t.Fatal(err)
	}
	if got := m.next(patience); !strings.Contains(got, "WATCHDOG=1") {
		t.Errorf("no sign of life, though it can be reached: %q", got)
	}
	s.end(syscall.SIGTERM)
}

// TestReady asks a service that runs, one on TCP, and one that does not.
func TestReady(t *testing.T) {
	s := newService(t, nil)
	config := s.dir + "/ambitd.json"
	ask := func(want int, text string) {
		t.Helper()
		out, err := exec.Command(ambitd, "ready", "--config", config, "--within", "1s").CombinedOutput()
		if code := exitCode(err); code != want || !strings.Contains(string(out), text) {
			t.Errorf("exit code %d, want %d: %s", code, want, out)
		}
	}
	ask(0, "ready\n")
	s.end(syscall.SIGTERM)
	ask(1, "cannot ask the service")
	token := s.dir + "/token"
	if err := os.WriteFile(token, []byte("me:0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(map[string]any{"listen": nil, "tcp": fmt.Sprint("127.0.0.1:", 20000+rand.IntN(10000)), "token_file": token})
	ask(0, "ready\n")
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	return -1
}
