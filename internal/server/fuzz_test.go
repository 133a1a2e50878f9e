// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/runner"
	"github.com/ambit-sandbox/ambit/policy"
)

// checking is an engine that runs nothing, and looks at what it is to run.
type checking struct {
	projects string
	problems []string
	jobs     int
}

func (e *checking) Run(_ context.Context, q *runner.Request) (*runner.Result, error) {
	if q.Dir == e.projects+"/p" {
		e.jobs++
		e.check(q)
	} else if !strings.HasSuffix(q.Dir, "/journal") {
		e.problems = append(e.problems, "it would run in "+q.Dir)
	}
	if q.Started != nil {
		q.Started()
	}
	return &runner.Result{Receipt: &ambit.Receipt{Outcome: &ambit.Outcome{Executed: true}}}, nil
}

// check demands that there is a policy, and the server's as bound of any other.
func (e *checking) check(q *runner.Request) {
	server := func(layers []policy.Layer) bool { return len(layers) == 1 && layers[0].Name == "server" }
	switch {
	case len(q.Argv) == 0:
		e.problems = append(e.problems, "it would run nothing")
	case len(q.Layers) != 2 || q.Layers[1].Policy.Limits.Timeout == nil:
		e.problems = append(e.problems, "there is no policy, or no time")
	case q.Bounds == nil && (q.Layers[0].Name != "server" || q.Layers[1].Policy.Env != nil):
		e.problems = append(e.problems, "nothing bounds it")
	case q.Bounds != nil && !server(q.Bounds):
		e.problems = append(e.problems, "something else bounds it")
	}
	for _, l := range q.Layers {
		if len(l.Policy.Secrets) > 0 {
			e.problems = append(e.problems, "it asks for the server's files")
		}
	}
}

func (e *checking) Probe(context.Context) (*ambit.Host, error) {
	return &ambit.Host{Works: true, Backend: "landlock"}, nil
}

func (e *checking) Limits() string { return "" }

func (e *checking) Close() error { return nil }

func newChecked(f testing.TB) (*Server, *checking) {
	f.Helper()
	dir := f.TempDir()
	if err := os.MkdirAll(dir+"/projects/p", 0o755); err != nil {
		f.Fatal(err)
	}
	c := &Config{Projects: dir + "/projects", Journal: dir + "/journal", MaxRequestBytes: 1 << 16, Concurrency: 1}
	c.defaults()
	c.JournalMaxBytes = 1 << 16
	e := &checking{projects: c.Projects}
	s, err := New(context.Background(), c, e, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.journal.Close() })
	return s, e
}

// TestChecking: a good request does get as far as the engine that looks at it.
func TestChecking(t *testing.T) {
	s, e := newChecked(t)
	r := httptest.NewRequest("POST", "http://localhost/api/execute", strings.NewReader(`{"project":"p","command":"true"}`))
	r.Header.Set("Content-Type", "application/json")
	r = r.WithContext(context.WithValue(r.Context(), whoKey{}, peer{unix: true, uid: uint32(os.Getuid())}))
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	if w.Code != 200 || e.jobs != 1 || len(e.problems) > 0 {
		t.Errorf("%d %s, %d jobs, %v", w.Code, w.Body, e.jobs, e.problems)
	}
}

// FuzzHTTP: whatever is sent by an allowed user is answered with a status and a
// body of this API, and what gets as far as the engine has a policy, a bound
// and a project.
func FuzzHTTP(f *testing.F) {
	post := func(body string, header ...string) []byte {
		return []byte("POST /api/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + strings.Join(append(header, ""), "\r\n") + "\r\n" + body)
	}
	for _, b := range [][]byte{
		post(`{"project":"p","command":"true"}`),
		post(`{"project":"p","argv":["a"],"env":{"A":"b"},"timeout":"9s"}`, "Idempotency-Key: k"),
		post(`{"project":"p","command":"x","folder_guard":{"extends":"workspace","secrets":{"A":{"file":"/x"}}}}`),
		post(`{"project":"p","command":"x","folder_guard":{"read_paths":["${WORK_DIR}"],"limits":{"timeout":"1s"}}}`, "Accept: text/event-stream"),
		post(`{"project":"../p","command":"x"}`), post(`{"project":"p","command":"\ud800"}`), post(`[[`),
		[]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), []byte("GET /?refresh=5 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		[]byte("GET /runs/aaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\nHost: localhost\r\n\r\n"), []byte("GET /runs/%2e%2e%2fx HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		[]byte("GET /health?fresh=1 HTTP/1.1\r\nHost: LOCALHOST:1\r\nOrigin: http://x\r\n\r\n"), []byte("BREW /metrics HTTP/1.0\r\nHost: [::1]\r\n\r\n"),
		[]byte("GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic eDp5\r\n\r\n"), []byte("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"),
	} {
		f.Add(b)
	}
	s, e := newChecked(f)
	h := s.handler()
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil || r.RequestURI == "*" { // which net/http answers itself
			return
		}
		// A socket's end is the end of what was sent.
		rest, _ := io.ReadAll(io.LimitReader(r.Body, 1<<17))
		if len(rest) == 0 {
			if _, body, ok := bytes.Cut(raw, []byte("\r\n\r\n")); ok {
				rest = body
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(rest))
		r = r.WithContext(context.WithValue(context.Background(), whoKey{}, peer{unix: true, uid: uint32(os.Getuid())}))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		checkAnswer(t, w)
		if len(e.problems) > 0 {
			t.Fatalf("%q: %v", raw, e.problems)
		}
	})
}

// checkAnswer demands one of the forms that are documented.
func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	kind := w.Header().Get("Content-Type")
	switch {
	case w.Code >= 500:
		t.Fatalf("%d %s", w.Code, w.Body)
	case w.Code >= 300 && w.Code < 400: // net/http's own, of a path that is not clean
		return
	case kind == "application/problem+json":
		var p problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code || p.Code == "" || p.Detail == "" || w.Code < 400 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	case kind == "application/json" || kind == "text/event-stream" || strings.HasPrefix(kind, "text/plain; version="):
		if w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	case kind == "text/html; charset=utf-8":
		if w.Header().Get("Content-Security-Policy") == "" || w.Code != 200 && w.Code != 404 {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
	default:
		t.Fatalf("%d %s: %s", w.Code, kind, w.Body)
	}
	if w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d may be stored", w.Code)
	}
}

// FuzzConfig: a configuration is taken or refused with its place, and never
// taken without a policy.
func FuzzConfig(f *testing.F) {
	dir := f.TempDir()
	for _, s := range []string{
		`{"projects":"` + dir + `","listen":"/x/s"}`, `{"projects":"/","tcp":"127.0.0.1:1","token_file":"/x"} // y`, `{"policy":{"extends":"none"},"projects":"/"}`,
		`{"tls":{"cert":"a","key":"b"},"tcp":":1"}`, `{"allow_uids":[4294967296]}`, `{"queue":0,"concurrency":-1,"journal":"x"}`, "/*", `{"secrets":{"A":{"file":""}},}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := dir + "/ambitd.json"
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := LoadConfig(file, Service)
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Fatalf("%q: no place is named: %v", text, err)
			}
			return
		}
		if c.Policy == nil || c.Concurrency < 1 || c.MaxTimeout <= 0 || c.Listen == "" && (c.TCP == "" || len(c.tokens) == 0) {
			t.Fatalf("%q is taken: %+v", text, c)
		}
	})
}
