// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// status is a number of the service's /proc/PID/status, in kB.
func (s *service) status(name string) int {
	s.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, l := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(l, name+":"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				s.t.Fatal(err)
			}
			return n
		}
	}
	s.t.Fatalf("no %s in %s", name, b)
	return 0
}

// connections counts the service's ends of connections to its socket: what is
// accepted has the listener's name (unix(7), /proc/net/unix).
func (s *service) connections() (n int) {
	s.t.Helper()
	b, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		s.t.Fatal(err)
	}
	const connected = "03"
	for _, l := range strings.Split(string(b), "\n") {
		if f := strings.Fields(l); len(f) == 8 && f[7] == s.dir+"/s/sock" && f[5] == connected {
			n++
		}
	}
	return n
}

// TestMuchOutput: of 200 MiB the beginning is kept and all is counted, and the
// service needs no more memory for it.
func TestMuchOutput(t *testing.T) {
	s := newService(t, nil)
	s.run("yes ambit | head -c 4194304", nil)
	before := s.status("VmHWM")
	const much = 200 << 20
	for _, accept := range []string{"application/json", "text/event-stream"} {
		a := s.ask("POST", "/api/execute", body("yes ambit | head -c "+strconv.Itoa(much)+"; echo end >&2", map[string]any{"timeout": "5m"}), "Accept", accept)
		if accept == "text/event-stream" {
			_, data, _ := strings.Cut(string(a.raw), "event: done\ndata: ")
			if err := json.Unmarshal([]byte(data), &a.json); err != nil {
				t.Fatalf("the last event: %v in %.300s", err, data)
			}
		}
		if a.num("exit_code") != 0 || a.num("stdout_bytes") != much || a.json["stdout_truncated"] != true || len(a.str("stdout")) != 1<<20 || a.str("stderr") != "end\n" {
			t.Errorf("%s: %d %v bytes %.300s", accept, a.status, a.json["stdout_bytes"], a.raw)
		}
	}
	if after := s.status("VmHWM"); after > before+64<<10 {
		t.Errorf("memory went from %d to %d kB", before, after)
	}
}

// stall sends a request and reads nothing of the answer.
func (s *service) stall(q string, header string) net.Conn {
	s.t.Helper()
	conn, err := net.DialTimeout("unix", s.dir+"/s/sock", patience)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s", len(q), header, q); err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// TestStalledReaders: who reads nothing of its answer holds nobody else up,
// and is left after a while: its connection is closed, its run ended.
func TestStalledReaders(t *testing.T) {
	s := newService(t, map[string]any{"stall_timeout": "500ms"})
	s.run("true", nil)
	memory := s.status("VmHWM")
	for _, header := range []string{"", "Accept: text/event-stream\r\n"} {
		// Far more than the buffers of a socket hold.
		const flood = `echo x >>flooded; yes ambit | head -c 1048576; `
		var stalled []net.Conn
		for range 10 {
			stalled = append(stalled, s.stall(body(flood, nil), header))
		}
		if header != "" { // one that would run for ever
			stalled = append(stalled, s.stall(body(flood+"sleep 1000", map[string]any{"timeout": "9m"}), header))
		}
		if a := s.run("echo served", nil); a.str("stdout") != "served\n" {
			t.Errorf("%q: %d %s", header, a.status, a.raw)
		}
		for end := deadline(); ; time.Sleep(20 * time.Millisecond) {
			h := s.ask("GET", "/health", "")
			n := s.connections()
			b, _ := os.ReadFile(s.dir + "/projects/p/flooded")
			if len(b) == 2*len(stalled) && h.num("running") == 0 && h.num("waiting") == 0 && n == 1 { // this one
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%q: %d of %d have begun, %d connections are open: %s", header, len(b)/2, len(stalled), n, h.raw)
			}
		}
		// What the buffers held is all that came.
		for _, conn := range stalled {
			if err := conn.SetReadDeadline(deadline()); err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) || n > 1<<20 {
				t.Errorf("%q: %d bytes, %v", header, n, err)
			}
		}
		_ = os.Remove(s.dir + "/projects/p/flooded")
	}
	if after := s.status("VmHWM"); after > memory+128<<10 {
		t.Errorf("memory went from %d to %d kB", memory, after)
	}
}

// TestSlowReader: who reads slowly, but reads, gets all of it, in both forms.
func TestSlowReader(t *testing.T) {
	s := newService(t, map[string]any{"stall_timeout": "10s"})
	const size = 1 << 20
	var wg sync.WaitGroup
	for name, header := range map[string]string{"plain": "Connection: close\r\n", "events": "Accept: text/event-stream\r\nConnection: close\r\n"} {
		conn := s.stall(body("yes ambit | head -c "+strconv.Itoa(size), nil), header)
		wg.Go(func() {
			slow := &slowly{conn}
			r, err := http.ReadResponse(bufio.NewReader(slow), nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			b, err := io.ReadAll(r.Body)
			if err != nil || strings.Count(string(b), `ambit\n`) < size/6 || !strings.Contains(string(b), `"exit_code":0`) {
				t.Errorf("%s: %d bytes, %v", name, len(b), err)
			}
		})
	}
	wg.Wait()
}

// slowly reads a little at a time.
type slowly struct{ net.Conn }

func (s *slowly) Read(b []byte) (int, error) {
	time.Sleep(5 * time.Millisecond)
	_ = s.SetReadDeadline(deadline())
	return s.Conn.Read(b[:min(len(b), 32<<10)])
}

// TestIdleConnections: thousands of connections on which nothing is asked any
// more cost little, and nobody else a thing.
func TestIdleConnections(t *testing.T) {
	s := newService(t, nil)
	many := 10000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	// The Go runtime has raised it to what may be had, here and in the service.
	if most := int(limit.Cur)/2 - 100; most < many {
		t.Logf("%d open files are allowed here: %d connections instead of %d", limit.Cur, most, many)
		many = most
	}
	before := s.status("VmRSS")
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	for range many {
		open = append(open, idle(t, s.dir+"/s/sock"))
	}
	if n := s.connections(); n < many {
		t.Errorf("the service has %d connections, not %d", n, many)
	}
	if a := s.run("echo served", nil); a.str("stdout") != "served\n" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if each := (s.status("VmRSS") - before) << 10 / many; each > 64<<10 {
		t.Errorf("each connection takes %d bytes", each)
	}
}

// TestCrowd: where connections are at their limit, those make room on which
// nothing was asked for the longest time, and none on which a run is waited for.
func TestCrowd(t *testing.T) {
	s := newService(t, map[string]any{"max_connections": 20})
	done := make(chan *answer, 1)
	go func() {
		a, _ := s.try(t.Context(), "POST", "/api/execute", body("touch begun; until [ -e go ]; do sleep 0.02; done; echo done", nil))
		done <- a
	}()
	s.waitFor("begun")
	var open []net.Conn
	for range 100 {
		open = append(open, idle(t, s.dir+"/s/sock"))
	}
	left := 0
	for i, conn := range open {
		defer func() { _ = conn.Close() }()
		old := i < 60 // when they became idle is not known to one
		wait := time.Now().Add(50 * time.Millisecond)
		if old {
			wait = deadline()
		}
		if err := conn.SetReadDeadline(wait); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Read(make([]byte, 1))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && !old:
			left++
		case !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET):
			t.Errorf("connection %d of %d: %v", i, len(open), err)
		}
	}
	if left != 19 { // and the run's
		t.Errorf("%d are left", left)
	}
	s.full()
	s.allow("go")
	if a := <-done; a == nil || a.str("stdout") != "done\n" {
		t.Errorf("%+v", a)
	}
}

// full fills a service of 20 connections with requests that never come to
// their end, and demands that one too many is hung up.
func (s *service) full() {
	s.t.Helper()
	dial := func() net.Conn {
		conn, err := net.DialTimeout("unix", s.dir+"/s/sock", patience)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = conn.Close() })
		if _, err := conn.Write([]byte("GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n")); err != nil && !errors.Is(err, syscall.EPIPE) {
			s.t.Fatal(err)
		}
		return conn
	}
	for range 19 { // and the run's
		dial()
	}
	for end := deadline(); ; {
		conn := dial()
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			s.t.Fatal(err)
		}
		_, err := conn.Read(make([]byte, 1))
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("no connection is hung up: %v", err)
		}
	}
}

// idle is a connection on which one request was answered.
func idle(t *testing.T, socket string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(context.Background(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(deadline()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1024)
	if n, err := conn.Read(b); err != nil || !strings.HasPrefix(string(b[:n]), "HTTP/1.1 200 ") {
		t.Fatalf("%q, %v", b[:n], err)
	}
	return conn
}

// TestIdleLimit: a connection on which nothing is asked is closed, also one on
// which nothing was ever asked, or half of something.
func TestIdleLimit(t *testing.T) {
	s := newService(t, map[string]any{"idle_timeout": "3s"})
	asked := idle(t, s.dir+"/s/sock")
	silent, err := net.DialTimeout("unix", s.dir+"/s/sock", patience)
	if err != nil {
		t.Fatal(err)
	}
	half, err := net.DialTimeout("unix", s.dir+"/s/sock", patience)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := half.Write([]byte("GET /livez HTTP/1.1\r\nHost: ")); err != nil {
		t.Fatal(err)
	}
	for name, conn := range map[string]net.Conn{"asked": asked, "silent": silent, "half": half} {
		if err := conn.SetReadDeadline(deadline()); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Close()
	}
	// A run that takes longer than that is none.
	if a := s.run("sleep 4; echo done", nil); a.str("stdout") != "done\n" {
		t.Errorf("%d %s", a.status, a.raw)
	}
}
