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

	"github.com/ambit-sandbox/ambit/internal/journal"
)

func deadline() time.Time { return time.Now().Add(patience) }

// TestSocketIsPrivate: mode 0600 in a folder of mode 0700, and no start in one
// that others can enter.
func TestSocketIsPrivate(t *testing.T) {
	s := newService(t, nil)
	for name, want := range map[string]os.FileMode{"/s": 0o700, "/s/sock": 0o600} {
		if st, err := os.Stat(s.dir + name); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
	if err := os.Mkdir(s.dir+"/open", 0o755); err != nil {
		t.Fatal(err)
	}
	fails(t, s.config(map[string]any{"listen": s.dir + "/open/sock", "journal": s.dir + "/j2"}), "mode 0700")
}

// fails starts a service that must refuse to.
func fails(t *testing.T, config string, want ...string) {
	t.Helper()
	c := exec.Command(ambitd, "serve", "--config", config, "--allow-root")

	time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	out, err := c.CombinedOutput()
	if err == nil || c.ProcessState.ExitCode() != 1 {
		t.Errorf("it started, or was killed: %v\n%s", err, out)
	}
	for _, w := range want {
		if !strings.Contains(string(out), w) {
			t.Errorf("no %q in %s", w, out)
		}
	}
}

// TestConfigRefused: every setting that can't work is named with its remedy.
func TestConfigRefused(t *testing.T) {
	s := &service{t: t, dir: t.TempDir()}
	fails(t, s.config(map[string]any{"projects": "relative", "tcp": "0.0.0.0:1", "listen": nil, "default_timeout": "2h"}),
		"projects", "write it from / on", "set token_file", "not loopback", "default_timeout")
	fails(t, s.config(map[string]any{"project": "/"}), "ambitd.json:2:", `unknown field "project"`)
	fails(t, s.config(map[string]any{"projects": s.dir, "secrets": map[string]any{"A": map[string]any{"file": s.dir + "/no"}}}), "secrets.A", "mode 0600")
}

// freeAddress is one that nobody listens at, below those that the kernel gives
// to whoever asks for any (ip_local_port_range, ip(7)): it stays free.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 20000+rand.IntN(10000))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port of a hundred is free")
	return ""
}

// TestAccess: over TCP only with the token, and for no foreign page.
func TestAccess(t *testing.T) {
	s := &service{t: t, dir: t.TempDir()}
	address := freeAddress(t)
	const secret = "0123456789abcdef0123"
	if err := os.WriteFile(s.dir+"/tokens", []byte("agent:"+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.dir+"/projects/p", 0o755); err != nil {
		t.Fatal(err)
	}
	s.start(map[string]any{"listen": nil, "tcp": address, "token_file": s.dir + "/tokens"})
	good := "Bearer " + secret
	for _, c := range []struct {
		header []string
		status int
	}{
		{nil, 401},
		{[]string{"Authorization", "Bearer " + secret[1:]}, 401},
		{[]string{"Authorization", "Basic " + secret}, 401},
		{[]string{"Authorization", good}, 200},
		{[]string{"Authorization", good, "Host", "evil.example"}, 403},
		{[]string{"Authorization", good, "Origin", "http://evil.example"}, 403},
		{[]string{"Authorization", good, "Sec-Fetch-Site", "cross-site"}, 403},
		{[]string{"Authorization", good, "Origin", "http://" + address, "Sec-Fetch-Site", "same-origin"}, 200},
	} {
		if a := s.ask("POST", "/api/execute", body("echo hi", nil), c.header...); a.status != c.status {
			t.Errorf("%v: %d %s", c.header, a.status, a.raw)
		}
	}
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if strings.Contains(s.log.String(), secret) {
		t.Errorf("the token is in the log: %s", s.log)
	}
	runs, _, err := journal.Read(s.dir + "/journal")
	if err != nil || len(runs) != 2 || runs[0].Who != "token:agent" {
		t.Errorf("the journal: %d runs, %v", len(runs), err)
	}
	if err := os.Chmod(s.dir+"/tokens", 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, s.dir+"/ambitd.json", "token_file", "others could read it")
}

// TestSecrets: a value reaches the command, and neither answer, stream nor
// journal.
func TestSecrets(t *testing.T) {
	const value = "hunter2hunter2"
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/key", []byte(value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newService(t, map[string]any{"secrets": map[string]any{"KEY": map[string]any{"file": dir + "/key"}}})
	q := body(`echo "${#KEY} $KEY"; printf hunter2; sleep 0.1; echo hunter2 >&2; "$KEY"`, map[string]any{"secrets": []string{"KEY"}})
	for _, accept := range []string{"application/json", "text/event-stream"} {
		a := s.ask("POST", "/api/execute", q, "Accept", accept)
		if !strings.Contains(string(a.raw), "14 [secret KEY]") || strings.Contains(string(a.raw), value) {
			t.Errorf("%s: %s", accept, a.raw)
		}
	}
	s.run("echo "+value, map[string]any{"secrets": []string{"KEY"}}) // in the command line too
	page := s.ask("GET", "/", "")
	for _, l := range link.FindAllStringSubmatch(string(page.raw), -1) {
		page.raw = append(page.raw, s.ask("GET", l[1], "").raw...)
	}
	if text := string(page.raw); strings.Contains(text, value) || !strings.Contains(text, "echo [secret KEY]") {
		t.Errorf("pages: %s", text)
	}
	s.end(syscall.SIGTERM)
	b, err := os.ReadFile(s.dir + "/journal/runs.jsonl")
	if err != nil || !strings.Contains(string(b), `"secrets":["KEY"]`) || strings.Contains(string(b)+s.log.String(), value) {
		t.Errorf("journal: %v\n%s", err, b)
	}
}

// TestHealth: what is said comes from a real run.
func TestHealth(t *testing.T) {
	s := newService(t, nil)
	a := s.ask("GET", "/health?fresh=1", "")
	sandbox, _ := a.json["shell_sandbox"].(map[string]any)
	if a.str("status") != "ok" || sandbox["available"] != true || sandbox["backend"] != "landlock" {
		t.Errorf("%s", a.raw)
	}
	if a := s.ask("GET", "/readyz", ""); a.status != 200 {
		t.Errorf("readyz: %d", a.status)
	}
	s.run("true", nil)
	m := string(s.ask("GET", "/metrics", "").raw)
	for _, want := range []string{`ambit_runs_total{outcome="exited"} 1`, "ambit_sandbox_available 1", "ambit_run_duration_seconds_count 1"} {
		if !strings.Contains(m, want+"\n") {
			t.Errorf("no %s in %s", want, m)
		}
	}
}

// TestShutdown: SIGTERM ends the tree, and who waits for it is answered.
func TestShutdown(t *testing.T) {
	s := newService(t, nil)
	got := make(chan *answer)
	go func() { got <- s.run("echo before; touch begun; sleep 1000", nil) }()
	s.waitFor("begun")
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
	if a := <-got; a.status != 200 || a.json["cancelled"] != true || a.str("stdout") != "before\n" || a.str("code") != "CANCELLED" {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

// TestKilled: the run in flight at a SIGKILL is marked at the next start, and
// the socket that was left is no obstacle.
func TestKilled(t *testing.T) {
	s := newService(t, nil)
	s.run("true", nil)
	go func() { _, _ = s.try(t.Context(), "POST", "/api/execute", body("touch begun; sleep 1000", nil)) }()
	s.waitFor("begun")
	s.end(syscall.SIGKILL)
	s.start(nil)
	runs, bad, err := journal.Read(s.dir + "/journal")
	if err != nil || bad > 0 || len(runs) != 2 || runs[0].End.Outcome != journal.Exited || runs[1].End == nil || runs[1].End.Outcome != journal.Lost {
		t.Fatalf("%v, %d bad, %d runs", err, bad, len(runs))
	}
	if a := s.run("echo again", nil); a.str("stdout") != "again\n" {
		t.Errorf("%s", a.raw)
	}
}
