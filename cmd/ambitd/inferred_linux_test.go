// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

// inferring is a way to run a command by the service: it returns what is
// inferred, and what a person or a model reads.
type inferring struct {
	name string
	run  func(command string) ([]denial.Inferred, string)
}

func (s *service) inferring() []inferring {
	list := []inferring{
		{"HTTP", func(c string) ([]denial.Inferred, string) { return s.inferredIn(s.run(c, nil).raw) }},
		{"SSE", func(c string) ([]denial.Inferred, string) {
			text := s.ask("POST", "/api/execute", body(c, nil), "Accept", "text/event-stream").raw
			_, last, _ := bytes.Cut(text, []byte("event: done\ndata: "))
			return s.inferredIn(last)
		}},
	}
	for _, way := range waysIn {
		a := s.agent(way)
		list = append(list, inferring{"MCP " + way, func(c string) ([]denial.Inferred, string) {
			r := a.call(c, nil)
			found, _ := s.inferredIn([]byte(r.raw))
			return found, r.text
		}})
	}
	return list
}

// inferredIn reads an answer; a receipt in it must say the same.
func (s *service) inferredIn(raw []byte) ([]denial.Inferred, string) {
	s.t.Helper()
	var r struct {
		Inferred []denial.Inferred
		Receipt  *struct{ Inferred []denial.Inferred }
	}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&r); err != nil {
		s.t.Fatalf("%v: %s", err, raw)
	}
	if r.Receipt != nil && len(r.Receipt.Inferred) != len(r.Inferred) {
		s.t.Errorf("the answer and its receipt differ: %s", raw)
	}
	return r.Inferred, string(raw)
}

// TestInferredEverywhere: what Landlock refuses is told as inferred on every
// surface of the service, and nothing is where the command succeeds or the
// file is open.
func TestInferredEverywhere(t *testing.T) {
	s := newService(t, nil)
	shut, open := filepath.Join(s.dir, "shut"), filepath.Join(s.dir, "projects/p/open")
	for _, name := range []string{shut, open} {
		if err := os.WriteFile(name, []byte("text\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, way := range s.inferring() {
		found, says := way.run("cat " + shut)
		if len(found) != 1 || found[0].Path != shut || found[0].Access != denial.Read || found[0].Grant == nil || found[0].Grant.Flag != "--read "+shut {
			t.Errorf("%s: %+v", way.name, found)
		} else if strings.HasPrefix(way.name, "MCP") && !strings.Contains(says, "\nnot recorded, inferred from stderr: "+found[0].String()) {
			t.Errorf("%s says %s", way.name, says)
		}
		for _, c := range []string{"cat " + shut + "; exit 0", "echo 'cat: " + open + ": Permission denied' >&2; exit 1"} {
			if found, says := way.run(c); len(found) != 0 || strings.Contains(says, "inferred") {
				t.Errorf("%s, %s: %+v\n%s", way.name, c, found, says)
			}
		}
	}
	c := exec.Command(filepath.Join(filepath.Dir(ambitd), "ambit"), "run", "--server", s.dir+"/s/sock", "--project", "p", "--", "cat", shut)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if err := c.Run(); c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "\nambit: its message names \""+shut+`"`) {
		t.Errorf("%v\n%s", err, &stderr)
	}
}
