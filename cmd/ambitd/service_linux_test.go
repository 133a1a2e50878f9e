// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain builds the service and its supervisor, which must be of one build,
// as a release has them: side by side.
func TestMain(m *testing.M) { os.Exit(withPrograms(m)) }

// ambitd is the built service.
var ambitd string

func withPrograms(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ambitd-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// Without -trimpath, so that what the test itself was compiled from need
	// not be compiled a second time.
	build := exec.Command("go", "build", "-o", dir+"/", "../ambit", ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build: %v\n%s", err, out)
		return 1
	}
	ambitd = dir + "/ambitd"
	return m.Run()
}

// patience bounds every wait; nothing is expected to take it.
const patience = 60 * time.Second

// service is a running ambitd.
type service struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	log    *logged
	client *http.Client
	base   string
	exited chan struct{} // closed when the service is gone

	env  []string // beside the test's own
	wrap []string // executes what follows it
	// transport reaches a service with TLS.
	transport *http.Transport
}

// newService starts a service with a project "p", and with the settings in
// the configuration.
func newService(t *testing.T, settings map[string]any) *service {
	t.Helper()
	s := prepared(t)
	s.start(settings)
	return s
}

// prepared makes the folders of a service that is not started yet.
func prepared(t *testing.T) *service {
	t.Helper()
	// Short, for the socket, and outside of /tmp/go-test's long names.
	dir, err := os.MkdirTemp("", "ad")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &service{t: t, dir: dir}
	for _, d := range []string{"/projects/p", "/projects/q"} {
		if err := os.MkdirAll(dir+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *service) config(settings map[string]any) string {
	c := map[string]any{"listen": s.dir + "/s/sock", "projects": s.dir + "/projects", "journal": s.dir + "/journal"}
	for k, v := range settings {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	b, err := json.Marshal(c)
	if err != nil {
		s.t.Fatal(err)
	}
	name := s.dir + "/ambitd.json"
	if err := os.WriteFile(name, append([]byte("// made by a test\n"), b...), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return name
}

func (s *service) start(settings map[string]any) {
	s.t.Helper()
	s.log, s.exited = &logged{}, make(chan struct{})
	args := append(slices.Clone(s.wrap), ambitd, "serve", "--config", s.config(settings), "--allow-root")
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Env = append(os.Environ(), s.env...)
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(s.exited)
		_ = s.cmd.Wait()
	}()
	s.t.Cleanup(func() { s.end(syscall.SIGKILL) })
	s.base = "http://localhost"
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", s.dir+"/s/sock")
	}}
	if tcp, ok := settings["tcp"].(string); ok {
		s.base, transport = "http://"+tcp, &http.Transport{}
	}
	if s.transport != nil {
		s.base, transport = "https"+strings.TrimPrefix(s.base, "http"), s.transport
	}
	s.client = &http.Client{Transport: transport, Timeout: patience}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		r, err := s.client.Get(s.base + "/livez")
		if err == nil {
			_ = r.Body.Close()
			return
		}
		select {
		case <-s.exited:
			s.t.Fatalf("the service has ended: %s\n%s", s.cmd.ProcessState, s.log)
		default:
		}
		if time.Now().After(end) {
			s.end(syscall.SIGKILL)
			s.t.Fatalf("the service does not answer: %v\n%s", err, s.log)
		}
	}
}

// end ends the service by a signal and returns its exit code.
func (s *service) end(sig syscall.Signal) int {
	_ = s.cmd.Process.Signal(sig)
	kill := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	<-s.exited
	return s.cmd.ProcessState.ExitCode()
}

// logged keeps what a running process writes.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	raw    []byte
	json   map[string]any
}

func (a *answer) str(name string) string { v, _ := a.json[name].(string); return v }
func (a *answer) num(name string) int {
	v, ok := a.json[name].(float64)
	if !ok {
		return -1
	}
	return int(v)
}

// ask sends a request; header is pairs of names and values.
func (s *service) ask(method, path, body string, header ...string) *answer {
	s.t.Helper()
	a, err := s.try(context.Background(), method, path, body, header...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (s *service) try(ctx context.Context, method, path, body string, header ...string) (*answer, error) {
	q, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			q.Host = header[i+1]
		}
		q.Header.Set(header[i], header[i+1])
	}
	r, err := s.client.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	a := &answer{status: r.StatusCode, header: r.Header, raw: b}
	_ = json.Unmarshal(b, &a.json)
	return a, err
}

// run runs a shell command in the project p.
func (s *service) run(command string, more map[string]any) *answer {
	s.t.Helper()
	return s.ask("POST", "/api/execute", body(command, more))
}

func body(command string, more map[string]any) string {
	q := map[string]any{"project": "p", "command": command}
	for k, v := range more {
		q[k] = v
	}
	b, _ := json.Marshal(q)
	return string(b)
}

// waitFor waits until a file is there.
func (s *service) waitFor(name string) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(s.dir, "projects/p", name)); err == nil {
			return
		} else if time.Now().After(end) {
			s.t.Fatalf("%s is not there: %v\n%s", name, err, s.log)
		}
	}
}
