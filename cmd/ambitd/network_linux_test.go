// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit"
)

// wrongKey is what a script reports when it can't reach its provider.
const wrongKey = ` || echo "401 Unauthorized: bad API key"`

// asksProvider is a real program that asks a URL.
func asksProvider(t *testing.T) func(url string) string {
	t.Helper()
	if _, err := os.Stat("/usr/bin/curl"); err == nil {
		return func(url string) string { return "/usr/bin/curl -s --max-time 20 " + url }
	}
	for _, python := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		if _, err := os.Stat(python); err == nil {
			return func(url string) string {
				return python + ` -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen("` + url + `", timeout=20).read().decode())' 2>/dev/null`
			}
		}
	}
	t.Skip("this machine has neither curl nor python3 to ask with")
	return nil
}

// surface is a way in which a command is run, and what that told: the exit code,
// stdout, what a person or a model reads besides, and the structured answer.
type surface struct {
	name string
	run  func(command string) told
}

type told struct {
	code                 int
	stdout, says, denied string
	denials              int
}

// surfaces are all ways in: the program, HTTP, SSE, and MCP over its transports.
func (s *service) surfaces(allowed bool) []surface {
	list := []surface{{"ambit run", func(c string) told { return s.byProgram(allowed, c) }}, {"HTTP", s.byHTTP}, {"SSE", s.bySSE}}
	for _, way := range waysIn {
		a := s.agent(way)
		list = append(list, surface{"MCP " + way, func(command string) told {
			r := a.call(command, nil)
			var o struct {
				NetworkDenied string `json:"network_denied"`
			}
			if err := json.Unmarshal([]byte(r.raw), &o); err != nil || r.isError {
				s.t.Errorf("%s: %s", way, r.raw)
			}
			return told{r.ExitCode, r.Stdout, r.text, o.NetworkDenied, len(r.Denials)}
		}})
	}
	return list
}

func (s *service) byProgram(allowed bool, command string) told {
	s.t.Helper()
	receipt := filepath.Join(s.dir, "receipt")
	c := exec.Command(filepath.Join(filepath.Dir(ambitd), "ambit"), "run", fmt.Sprintf("--allow-network=%v", allowed), "--receipt", receipt, "--", "/bin/sh", "-c", command)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = s.dir+"/projects/p", &stdout, &stderr
	_ = c.Run() // its exit code is compared
	b, err := os.ReadFile(receipt)
	var r ambit.Receipt
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		s.t.Fatalf("no receipt: %v\n%s", err, &stderr)
	}
	if r.Brokered == nil && !allowed {
		s.t.Skipf("kernel %s has no broker to record refusals with (Linux 5.19): %+v", r.Kernel, r.Coverage)
	}
	return told{c.ProcessState.ExitCode(), stdout.String(), stderr.String(), r.NetworkDenied, len(r.Denials)}
}

func (s *service) byHTTP(command string) told { return s.answered(s.run(command, nil).raw) }

func (s *service) bySSE(command string) told {
	s.t.Helper()
	text := string(s.ask("POST", "/api/execute", body(command, nil), "Accept", "text/event-stream").raw)
	_, last, ok := strings.Cut(text, "event: done\ndata: ")
	if !ok {
		s.t.Fatalf("no last event: %s", text)
	}
	return s.answered([]byte(last))
}

func (s *service) answered(raw []byte) told {
	s.t.Helper()
	var r struct {
		ExitCode      int `json:"exit_code"`
		Stdout        string
		NetworkDenied string `json:"network_denied"`
		Receipt       ambit.Receipt
		Denials       []any
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&r); err != nil {
		s.t.Fatalf("%v: %s", err, raw)
	}
	if r.Receipt.NetworkDenied != r.NetworkDenied || len(r.Receipt.Denials) != len(r.Denials) {
		s.t.Errorf("the answer and its receipt differ: %s", raw)
	}
	return told{r.ExitCode, r.Stdout, string(raw), r.NetworkDenied, len(r.Denials)}
}

// TestNetworkDenied: a command that asks its provider over a closed network is
// told as refused by the sandbox on every surface, also when it ends well and
// blames the key. Nothing leaves this machine: no socket is made.
func TestNetworkDenied(t *testing.T) {
	asks := asksProvider(t)
	s := newService(t, nil)
	if c := s.byProgram(false, "true"); c.code != 0 || c.denied != "" || c.says != "" {
		t.Fatalf("the control: %+v", c)
	}
	for _, way := range s.surfaces(false) {
		for _, url := range []string{"https://provider.example/v1/models", "https://127.0.0.1:9/v1/models"} {
			r := way.run(asks(url))
			if r.code == 0 || r.denials == 0 || !strings.Contains(r.denied, "the policy closes the network, and the command tried to use it (AF_INET") || !strings.Contains(r.says, r.denied) {
				t.Errorf("%s, %s: %+v", way.name, url, r)
			}
			r = way.run(asks(url) + wrongKey)
			if r.code != 0 || r.stdout != "401 Unauthorized: bad API key\n" || r.denials == 0 || !strings.Contains(r.denied, "tried to use it (AF_INET") || !strings.Contains(r.says, r.denied) {
				t.Errorf("%s, %s, as a wrong key: %+v", way.name, url, r)
			}
		}
		if r := way.run("echo well"); r.code != 0 || r.stdout != "well\n" || r.denials != 0 || r.denied != "" || strings.Contains(r.says, "closes the network") {
			t.Errorf("%s, without a socket: %+v", way.name, r)
		}
	}
}

// TestNetworkAllowed: with the network open the same program reaches a server,
// and nothing is told.
func TestNetworkAllowed(t *testing.T) {
	asks := asksProvider(t)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "models\n") }))
	t.Cleanup(provider.Close)
	s := newService(t, map[string]any{"policy": map[string]any{"extends": "workspace", "allow_network": true}})
	for _, way := range s.surfaces(true) {
		if r := way.run(asks(provider.URL) + wrongKey); r.code != 0 || r.stdout != "models\n" || r.denied != "" || strings.Contains(r.says, "closes the network") {
			t.Errorf("%s: %+v", way.name, r)
		}
	}
}
