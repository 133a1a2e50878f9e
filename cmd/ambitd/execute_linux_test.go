// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestExecute: output of both streams, the exit code, the receipt, and the
// sandbox around it.
func TestExecute(t *testing.T) {
	s := newService(t, nil)
	if err := os.WriteFile(s.dir+"/projects/q/other", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := s.run(`echo out; echo err >&2; cat; echo made >f; cat ../q/other; exit 7`, map[string]any{"stdin": "in\n", "env": map[string]any{"A": "b"}})
	if a.status != 200 || a.num("exit_code") != 7 || a.str("stdout") != "out\nin\n" || !strings.HasPrefix(a.str("stderr"), "err\n") {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if !strings.Contains(a.str("stderr"), "ermission denied") {
		t.Errorf("another project was read: %s", a.raw)
	}
	if b, err := os.ReadFile(s.dir + "/projects/p/f"); err != nil || string(b) != "made\n" {
		t.Errorf("the project's own file: %q, %v", b, err)
	}
	if r, _ := a.json["receipt"].(map[string]any); r["backend"] == nil || r["policy_digest"] == nil {
		t.Errorf("receipt: %v", a.json["receipt"])
	}
	for _, c := range []struct {
		command string
		more    map[string]any
		code    int
	}{{"kill -9 $$", nil, 137}, {"exec /etc/passwd", nil, 126}, {"exec no-such-command", nil, 127}, {"sleep 1000", map[string]any{"timeout": "100ms"}, 124}} {
		if a := s.run(c.command, c.more); a.status != 200 || a.num("exit_code") != c.code {
			t.Errorf("%s: %d %s", c.command, a.status, a.raw)
		}
	}
	a = s.run("printf 'a\\303\\251b\\377' ; head -c 100000 /dev/zero | tr '\\0' x >&2", map[string]any{"max_output_bytes": 1000})
	if a.str("stdout_encoding") != "base64" || len(a.str("stderr")) != 1000 || a.num("stderr_bytes") != 100000 || a.json["stderr_truncated"] != true {
		t.Errorf("%.300s", a.raw)
	}
}

// TestRefused: every request that can't be meant has its code, and nothing
// runs.
func TestRefused(t *testing.T) {
	s := newService(t, map[string]any{"max_request_bytes": 2000, "max_timeout": "5s"})
	if err := os.Symlink("q", s.dir+"/projects/link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"project":"p","command":"touch ran","x":1}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","Command":"touch ran"}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran","command":"touch ran"}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran"} {}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran",}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":["touch ran"]}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran","argv":["true"]}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran","timeout":null}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran","timeout":"6s"}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran","secrets":["NO"]}`, 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran\ud800"}`, 400, "REQUEST_INVALID"},
		{strings.Repeat("[", 1000), 400, "REQUEST_INVALID"},
		{`{"project":"p","command":"touch ran` + strings.Repeat(" ", 2000) + `"}`, 413, "TOO_LARGE"},
		{`{"project":"p","command":"touch ran","folder_guard":{"reads":[]}}`, 422, "POLICY_INVALID"},
		{`{"project":"p","command":"touch ran","folder_guard":{"secrets":{"A":{"file":"/etc/shadow"}}}}`, 422, "POLICY_INVALID"},
		{`{"project":"..","command":"touch ran"}`, 404, "PROJECT_NOT_FOUND"},
		{`{"project":"p/../q","command":"touch ran"}`, 404, "PROJECT_NOT_FOUND"},
		{`{"project":"link","command":"touch ran"}`, 404, "PROJECT_NOT_FOUND"},
		{`{"project":"nothing","command":"touch ran"}`, 404, "PROJECT_NOT_FOUND"},
	} {
		if a := s.ask("POST", "/api/execute", c.body); a.status != c.status || a.str("code") != c.code || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%.80s: %d %s", c.body, a.status, a.raw)
		}
	}
	if a := s.ask("GET", "/api/execute", ""); a.status != 405 {
		t.Errorf("GET: %d", a.status)
	}
	if a := s.ask("POST", "/api/execute", "{}", "Content-Type", "text/plain"); a.status != 415 {
		t.Errorf("text/plain: %d", a.status)
	}
	for _, p := range []string{"p", "q"} {
		if _, err := os.Stat(s.dir + "/projects/" + p + "/ran"); err == nil {
			t.Errorf("something ran in %s", p)
		}
	}
	if a := s.run("touch ran && echo yes", nil); a.str("stdout") != "yes\n" {
		t.Errorf("the good request: %s", a.raw)
	}
}

// TestStream: events come while the command runs, in order, and the last one
// tells how it ended.
func TestStream(t *testing.T) {
	s := newService(t, nil)
	a := s.ask("POST", "/api/execute", body("echo one; echo two >&2; exit 3", nil), "Accept", "text/event-stream")
	text := string(a.raw)
	for _, want := range []string{`event: stdout` + "\n" + `data: {"data":"one\n"`, `event: stderr` + "\n" + `data: {"data":"two\n"`, "event: done\n", `"exit_code":3`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if i := strings.LastIndex(text, "event: "); !strings.HasPrefix(text[i:], "event: done") {
		t.Errorf("the last event: %s", text[i:])
	}
}

// TestCancel: a client that leaves, streaming or not, ends the tree.
func TestCancel(t *testing.T) {
	s := newService(t, nil)
	for _, accept := range []string{"application/json", "text/event-stream"} {
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan error)
		// The child holds the lock of a pipe that the test reads to its end.
		if err := syscall.Mkfifo(s.dir+"/projects/p/pipe", 0o600); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := s.try(ctx, "POST", "/api/execute", body("exec 3>pipe; (setsid sleep 1000 &) ; touch begun; sleep 1000", nil), "Accept", accept)
			over <- err
		}()
		f, err := os.Open(s.dir + "/projects/p/pipe")
		if err != nil {
			t.Fatal(err)
		}
		s.waitFor("begun")
		cancel()
		if err := <-over; err == nil {
			t.Error("the cancelled request was answered")
		}
		if err := f.SetReadDeadline(deadline()); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "EOF") {
			t.Errorf("%s: the tree is still there: %v", accept, err)
		}
		_ = f.Close()
		_, _ = os.Remove(s.dir+"/projects/p/pipe"), os.Remove(s.dir+"/projects/p/begun")
	}
}

// TestQueue: one runs, one waits, the third is told to come again.
func TestQueue(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 1, "queue": 1})
	var wg sync.WaitGroup
	wg.Go(func() { s.run("touch a; until [ -e go ]; do sleep 0.05; done", nil) })
	s.waitFor("a")
	wg.Go(func() { s.run("touch b", nil) })
	for end := deadline(); s.ask("GET", "/health", "").num("waiting") != 1; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the second run does not wait")
		}
	}
	a := s.run("touch c", nil)
	if a.status != 429 || a.str("code") != "BUSY" || a.header.Get("Retry-After") == "" {
		t.Errorf("the third: %d %s", a.status, a.raw)
	}
	if _, err := os.Stat(s.dir + "/projects/p/b"); err == nil {
		t.Error("two ran at once")
	}
	if err := os.WriteFile(s.dir+"/projects/p/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	s.waitFor("b")
}

// TestIdempotency: one key, one run, whether it is over or in flight.
func TestIdempotency(t *testing.T) {
	s := newService(t, nil)
	q := body("echo x >>count; until [ -e go ]; do sleep 0.05; done; cat count", nil)
	answers := make(chan string, 3)
	for range 2 {
		go func() { answers <- string(s.ask("POST", "/api/execute", q, "Idempotency-Key", "k").raw) }()
	}
	s.waitFor("count")
	if a := s.ask("POST", "/api/execute", body("true", nil), "Idempotency-Key", "k"); a.status != 409 || a.str("code") != "IDEMPOTENCY_MISMATCH" {
		t.Errorf("another body: %d %s", a.status, a.raw)
	}
	if err := os.WriteFile(s.dir+"/projects/p/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	first, second := <-answers, <-answers
	third := string(s.ask("POST", "/api/execute", q, "Idempotency-Key", "k").raw)
	if first != second || second != third || !strings.Contains(first, `"stdout":"x\n"`) {
		t.Errorf("three answers:\n%s%s%s", first, second, third)
	}
}
