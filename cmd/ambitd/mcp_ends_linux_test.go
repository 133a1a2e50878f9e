// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

// grown is a command's tree: a process in a session of its own, whose parent is
// gone, and one more. Both hold a pipe that the test reads to its end.
const grown = "exec 3>pipe; (setsid sleep 1000 &) ; touch begun; sleep 1000"

// grow has start begin the tree, and returns what waits until it is gone.
func (s *service) grow(start func()) (gone func(what string)) {
	s.t.Helper()
	pipe := s.dir + "/projects/p/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		s.t.Fatal(err)
	}
	start()
	f, err := os.Open(pipe)
	if err != nil {
		s.t.Fatal(err)
	}
	s.waitFor("begun")
	return func(what string) {
		s.t.Helper()
		if err := f.SetReadDeadline(deadline()); err != nil {
			s.t.Fatal(err)
		}
		if _, err := f.Read(make([]byte, 1)); err != io.EOF {
			s.t.Errorf("%s: the tree is still there: %v", what, err)
		}
		_, _, _ = f.Close(), os.Remove(pipe), os.Remove(s.dir+"/projects/p/begun")
	}
}

// TestMCPCancel: a call that is cancelled ends its tree, and no other.
func TestMCPCancel(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 4})
	for _, way := range waysIn {
		a := s.agent(way)
		other := make(chan *ran, 1)
		go func() {
			r, err := a.try(t.Context(), "until [ -e go ]; do sleep 0.02; done; echo on", nil)
			if err != nil {
				t.Errorf("%s: the other call: %v", way, err)
			}
			other <- r
		}()
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan error, 1)
		gone := s.grow(func() {
			go func() {
				_, err := a.try(ctx, grown, nil)
				over <- err
			}()
		})
		cancel()
		if err := <-over; err == nil {
			t.Errorf("%s: the cancelled call was answered", way)
		}
		gone(way)
		if err := os.WriteFile(s.dir+"/projects/p/go", nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if r := <-other; r != nil && r.Stdout != "on\n" {
			t.Errorf("%s: the other call: %s", way, r.raw)
		}
		_ = os.Remove(s.dir + "/projects/p/go")
	}
}

// TestMCPLeave: a client that leaves ends its trees. (Over stdio that is the
// end of input.)
func TestMCPLeave(t *testing.T) {
	s := newService(t, nil)
	for _, way := range []string{overHTTP, withSessions} {
		a := s.agent(way)
		gone := s.grow(func() { go func() { _, _ = a.try(t.Context(), grown, nil) }() })
		a.drop()
		gone(way)
	}
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	for end := deadline(); ; time.Sleep(5 * time.Millisecond) {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(b, []byte(") Z ")) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// TestMCPDropped: a connection that breaks, and a session that is given up, end
// the calls that came that way.
func TestMCPDropped(t *testing.T) {
	s := newService(t, nil)
	for _, how := range []string{"broken", "given up"} {
		session := s.session()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		over := make(chan error, 1)
		gone := s.grow(func() {
			go func() {
				_, err := s.try(ctx, "POST", "/mcp", toolCall(7, grown), session...)
				over <- err
			}()
		})
		if how == "broken" {
			cancel()
		} else if a := s.ask("DELETE", "/mcp", "", session...); a.status != http.StatusNoContent {
			t.Errorf("DELETE: %d %s", a.status, a.raw)
		}
		gone(how)
		// It was not this client's patience that came to an end.
		if err := <-over; (err == nil) != (how == "given up") {
			t.Errorf("%s: the call: %v", how, err)
		}
	}
}

// session begins one by hand, and returns the headers of what follows.
func (s *service) session(more ...string) []string {
	s.t.Helper()
	header := append([]string{"Accept", "application/json, text/event-stream"}, more...)
	a := s.ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, header...)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != http.StatusOK || id == "" {
		s.t.Fatalf("initialize: %d %s", a.status, a.raw)
	}
	header = append(header, "Mcp-Session-Id", id, "Mcp-Protocol-Version", "2025-06-18")
	if a := s.ask("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header...); a.status != http.StatusAccepted {
		s.t.Fatalf("initialized: %d %s", a.status, a.raw)
	}
	return header
}

func toolCall(id int, command string) string {
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{
		"name": "execute_shell_command", "arguments": map[string]any{"project": "p", "command": command}}})
	return string(b)
}

// TestMCPShutdown: the service's end ends the trees, answers who waits, and is
// not held up by a client that listens.
func TestMCPShutdown(t *testing.T) {
	s := newService(t, nil)
	a, listening := s.agent(withSessions), s.session()
	go func() { _, _ = s.try(t.Context(), "GET", "/mcp", "", listening...) }()
	got := make(chan *ran, 1)
	gone := s.grow(func() {
		go func() {
			r, err := a.try(t.Context(), "echo before; "+grown, nil)
			if err != nil {
				t.Errorf("no answer: %v", err)
			}
			got <- r
		}()
	})
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
	gone("SIGTERM")
	if r := <-got; r != nil && (!r.isError || r.Code != "CANCELLED" || r.Stdout != "before\n" || !strings.Contains(r.text, "CANCELLED: ")) {
		t.Errorf("%s %s", r.raw, r.text)
	}
	if strings.Contains(s.log.String(), "deadline") {
		t.Errorf("it waited for a client that listens: %s", s.log)
	}
}

// TestMCPStdio: stdout is the protocol's alone, one message a line; SIGTERM and
// the end of input end the process and its trees.
func TestMCPStdio(t *testing.T) {
	s := newService(t, nil)
	for _, how := range []string{"end of input", "SIGTERM"} {
		c := exec.Command(ambitd, "mcp", "--config", s.dir+"/ambitd.json", "--allow-root")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		log := &logged{}
		if c.Stderr = log; c.Start() != nil {
			t.Fatal("it does not start")
		}
		kill := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		answered := messages(t, out)
		send := func(messages ...string) {
			if _, err := io.WriteString(in, strings.Join(messages, "\n")+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, toolCall(2, "echo one"))
		for _, want := range []string{"1", "2"} {
			if id := <-answered; id != want {
				t.Fatalf("%s: the answer to %q came, not to %s\n%s", how, id, want, log)
			}
		}
		gone := s.grow(func() { send(toolCall(3, grown)) })
		if how == "SIGTERM" {
			_ = c.Process.Signal(syscall.SIGTERM)
		} else {
			_ = in.Close()
		}
		gone(how)
		for range answered { // to the end of output
		}
		if err := c.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", how, err, log)
		}
		kill.Stop()
	}
}

// messages returns the IDs of the messages in a stream that must hold nothing
// else, one a line.
func messages(t *testing.T, from io.Reader) <-chan string {
	ids := make(chan string, 100)
	go func() {
		defer close(ids)
		for lines := bufio.NewReader(from); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				if len(line) > 0 {
					t.Errorf("half a message: %s", line)
				}
				return
			}
			var m struct {
				JSONRPC string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
			}
			if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" {
				t.Errorf("no message: %s", line)
			}
			ids <- string(m.ID)
		}
	}()
	return ids
}

// TestMCPBeside: agents' servers over stdio work beside a service with the same
// configuration and beside one another, each with a journal of its own, and
// ambit runs lists all. What was killed is marked by the next one.
func TestMCPBeside(t *testing.T) {
	s := newService(t, nil)
	s.run("echo by the service", nil)
	a, b := s.agent(overStdio), s.agent(overStdio)
	if r := a.call("echo by an agent", nil); r.ExitCode != 0 {
		t.Errorf("%s", r.raw)
	}
	gone := s.grow(func() { go func() { _, _ = b.try(t.Context(), grown, nil) }() })
	if err := b.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gone("SIGKILL")
	waitGone(t, b.cmd.Process.Pid)
	s.agent(overStdio)
	out, err := exec.Command(filepath.Join(filepath.Dir(ambitd), "ambit"), "runs", "--json", "--journal", s.dir+"/journal").Output()
	if err != nil {
		t.Fatal(err)
	}
	var runs []*journal.Run
	if err := json.Unmarshal(out, &runs); err != nil || len(runs) != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	stdio := fmt.Sprintf("stdio:%d", os.Getuid())
	for i, want := range []struct{ who, outcome string }{{fmt.Sprintf("uid:%d", os.Getuid()), journal.Exited}, {stdio, journal.Exited}, {stdio, journal.Lost}} {
		if r := runs[i]; r.Who != want.who || r.End == nil || r.End.Outcome != want.outcome {
			t.Errorf("%d: %+v %+v", i, r, r.End)
		}
	}
}

// TestMCPAccess: over HTTP the tools are behind the checks of everything else,
// and a session is its beginner's alone.
func TestMCPAccess(t *testing.T) {
	s := &service{t: t, dir: t.TempDir()}
	const first, second = "0123456789abcdef0123", "abcdefabcdefabcdefab"
	if err := os.WriteFile(s.dir+"/tokens", []byte("one:"+first+"\ntwo:"+second+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.dir+"/projects/p", 0o755); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	s.start(map[string]any{"listen": nil, "tcp": address, "token_file": s.dir + "/tokens", "max_request_bytes": 2000})
	good := s.session("Authorization", "Bearer "+first)
	without := func(name string, with ...string) []string {
		var h []string
		for i := 0; i < len(good); i += 2 {
			if good[i] != name {
				h = append(h, good[i], good[i+1])
			}
		}
		return append(h, with...)
	}
	for name, c := range map[string]struct {
		method, body string
		header       []string
		status       int
	}{
		"good":              {"POST", toolCall(2, "echo ran"), good, 200},
		"no token":          {"POST", toolCall(2, "echo ran"), without("Authorization"), 401},
		"an unknown token":  {"POST", toolCall(2, "echo ran"), without("Authorization", "Authorization", "Bearer checked"), 401},
		"another's session": {"POST", toolCall(2, "echo ran"), without("Authorization", "Authorization", "Bearer "+second), 403},
		"another listens":   {"GET", "", without("Authorization", "Authorization", "Bearer "+second), 403},
		"another ends it":   {"DELETE", "", without("Authorization", "Authorization", "Bearer "+second), 403},
		"no such session":   {"POST", toolCall(2, "echo ran"), without("Mcp-Session-Id", "Mcp-Session-Id", "x"), 404},
		"a foreign host":    {"POST", toolCall(2, "echo ran"), append(without(""), "Host", "evil.example"), 403},
		"a foreign page":    {"POST", toolCall(2, "echo ran"), append(without(""), "Origin", "http://evil.example"), 403},
		"no JSON":           {"POST", toolCall(2, "echo ran"), append(without(""), "Content-Type", "text/plain"), 415},
		"too large":         {"POST", toolCall(2, "echo ran"+strings.Repeat(" ", 2000)), good, 413},
	} {
		a := s.ask(c.method, "/mcp", c.body, c.header...)
		if a.status != c.status || (c.status == 200) != strings.Contains(string(a.raw), `ran\n`) {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	s.end(syscall.SIGTERM)
	runs, _, err := journal.Read(s.dir + "/journal")
	if err != nil || len(runs) != 1 || runs[0].Who != "token:one" {
		t.Errorf("the journal: %d runs, %v", len(runs), err)
	}
	if log := s.log.String(); strings.Contains(log, first) || strings.Contains(log, second) {
		t.Errorf("a token is in the log: %s", log)
	}
}

// TestMCPSessions: sessions are bounded, and one that is given up makes room.
func TestMCPSessions(t *testing.T) {
	s := newService(t, nil)
	const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	accept := []string{"Accept", "application/json, text/event-stream"}
	last := s.session()
	for i := range 999 {
		if a := s.ask("POST", "/mcp", begin, accept...); a.status != http.StatusOK {
			t.Fatalf("session %d: %d %s", i+2, a.status, a.raw)
		}
	}
	if a := s.ask("POST", "/mcp", begin, accept...); a.status != http.StatusTooManyRequests || !strings.HasPrefix(string(a.raw), "BUSY: ") || a.header.Get("Retry-After") == "" {
		t.Errorf("session 1001: %d %s", a.status, a.raw)
	}
	if a := s.ask("POST", "/mcp", toolCall(2, "echo ran"), last...); a.status != http.StatusOK || !strings.Contains(string(a.raw), `ran\n`) {
		t.Errorf("in a session: %d %s", a.status, a.raw)
	}
	if a := s.ask("DELETE", "/mcp", "", last...); a.status != http.StatusNoContent {
		t.Errorf("DELETE: %d %s", a.status, a.raw)
	}
	s.session()
}
