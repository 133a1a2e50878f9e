// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// script is a command that would be one, if a page took it for a part of itself.
const script = `: '<script>alert(1)</script><img src=x onerror=alert(2)>'`

var link = regexp.MustCompile(`href="(/runs/[a-z2-7]{26})"`)

// pageHeaders are on every page.
func pageHeaders(t *testing.T, a *answer) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	policy := a.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "style-src 'sha256-", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("no %s in %s", want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "script") {
		t.Errorf("the policy is weak: %s", policy)
	}
	text := string(a.raw)
	for _, bad := range []string{"<script", "<img", "<link", "<iframe", "<form", "style=\""} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %s:\n%s", bad, text)
		}
	}
	for _, want := range []string{"<!doctype html>", `<html lang="en">`, "<title>", "<h1>", "width=device-width"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// shows demands texts of a page.
func shows(t *testing.T, a *answer, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(string(a.raw), want) {
			t.Errorf("no %s in\n%s", want, a.raw)
		}
	}
}

// TestStatusPage: what the service knows is shown, and what commands are called
// is shown as text.
func TestStatusPage(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 3, "queue": 7})
	shows(t, s.ask("GET", "/", ""), "Available", "landlock", "0 of at most 3", "0 of at most 7", "Nothing.", "None.")
	if a := s.run(script+"; chmod 600 /etc/passwd; exit 3", nil); a.num("exit_code") != 3 {
		t.Fatalf("%s", a.raw)
	}
	s.run("true", map[string]any{"folder_guard": map[string]any{"write_paths": []string{"/"}}})
	done := make(chan *answer)
	go func() {
		a, _ := s.try(t.Context(), "POST", "/api/execute", body("touch begun; until [ -e go ]; do sleep 0.02; done # "+script, nil))
		done <- a
	}()
	s.waitFor("begun")
	a := s.ask("GET", "/", "")
	pageHeaders(t, a)
	const shown = "&lt;script&gt;alert(1)&lt;/script&gt;"
	shows(t, a, "1 of at most 3", shown, "exited, code 3", "refused, <code>POLICY_INVALID</code>", "<caption>The last 2, newest first", fmt.Sprint("uid:", os.Getuid()))
	links := link.FindAllStringSubmatch(string(a.raw), -1)
	if len(links) != 3 {
		t.Fatalf("%d links in\n%s", len(links), a.raw)
	}
	for i, wants := range [][]string{
		{"<dd>running</dd>", shown},
		{"<dd>refused, <code>POLICY_INVALID</code></dd>", "more than is allowed here"},
		{"<dd>exited, code 3</dd>", shown, "sha256:", "<caption>Each item of the policy", "files.read", "landlock", "/etc/passwd", "EACCES", "plan ", "&#34;write_paths&#34;:[&#34;/etc/passwd&#34;]", "in the queue"},
	} {
		run := s.ask("GET", links[i][1], "")
		pageHeaders(t, run)
		shows(t, run, wants...)
	}
	if err := os.WriteFile(s.dir+"/projects/p/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a == nil || a.num("exit_code") != 0 {
		t.Errorf("%+v", a)
	}
	shows(t, s.ask("GET", links[0][1], ""), "<dd>exited</dd>")
	for _, path := range []string{"/runs/" + strings.Repeat("a", 26), "/runs/..%2f..%2fetc%2fpasswd", "/runs/x"} {
		a := s.ask("GET", path, "")
		pageHeaders(t, a)
		if shows(t, a, "No such run"); a.status != 404 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	for query, want := range map[string]string{"?refresh=5": `content="5"`, "?refresh=1": `content="2"`, "?refresh=99999": `content="3600"`, "?refresh=no": "", "?refresh=-1": "", "": ""} {
		if text := string(s.ask("GET", "/"+query, "").raw); strings.Contains(text, "http-equiv") != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s:\n%s", query, text)
		}
	}
}

// TestStatusPageUnavailable: the page tells why nothing can be run.
func TestStatusPageUnavailable(t *testing.T) {
	s := prepared(t)
	s.env = []string{"TMPDIR=" + s.dir + "/none"}
	s.start(nil)
	shows(t, s.ask("GET", "/", ""), "Not available", "set TMPDIR to a writable folder", s.dir+"/none")
}

// TestStatusPageAccess: over TCP a page needs the token too. It may be the
// password that a browser asks for, for pages alone.
func TestStatusPageAccess(t *testing.T) {
	s := prepared(t)
	if err := os.WriteFile(s.dir+"/tokens", []byte("agent:"+goodToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(map[string]any{"listen": nil, "tcp": freeAddress(t), "token_file": s.dir + "/tokens"})
	basic := func(password string) string {
		q := http.Request{Header: http.Header{}}
		q.SetBasicAuth("anybody", password)
		return q.Header.Get("Authorization")
	}
	good := basic(goodToken)
	missing := "/runs/" + strings.Repeat("a", 26)
	for _, c := range []struct {
		method, path string
		header       []string
		status       int
	}{
		{"GET", "/", nil, 401},
		{"GET", "/", []string{"Authorization", good}, 200},
		{"GET", "/", []string{"Authorization", "Bearer " + goodToken}, 200},
		{"GET", "/", []string{"Authorization", basic(goodToken[1:])}, 401},
		{"GET", "/", []string{"Authorization", basic("")}, 401},
		{"GET", "/", []string{"Authorization", good, "Host", "evil.example"}, 403},
		{"GET", "/", []string{"Authorization", good, "Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", missing, nil, 401},
		{"GET", missing, []string{"Authorization", good}, 404},
		{"POST", "/api/execute", []string{"Authorization", good}, 401},
		{"POST", "/api/execute", []string{"Authorization", "Bearer " + goodToken}, 200},
		{"GET", "/health", []string{"Authorization", good}, 401},
		{"GET", "/metrics", []string{"Authorization", good}, 401},
		{"POST", "/", []string{"Authorization", good}, 401},
	} {
		a := s.ask(c.method, c.path, body("true", nil), c.header...)
		if a.status != c.status {
			t.Errorf("%s %s %v: %d %s", c.method, c.path, c.header, a.status, a.raw)
		}
		challenges := strings.Join(a.header.Values("WWW-Authenticate"), ", ")
		page := c.method == "GET" && (c.path == "/" || c.path == missing)
		if a.status == 401 && (!strings.Contains(challenges, "Bearer") || strings.Contains(challenges, "Basic") != page) {
			t.Errorf("%s %s asks for %s", c.method, c.path, challenges)
		}
	}
}
