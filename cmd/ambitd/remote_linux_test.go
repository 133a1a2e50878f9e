// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ambit runs the command line beside the service.
func (s *service) ambit(stdin string, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	c := exec.Command(filepath.Dir(ambitd)+"/ambit", args...)
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errs
	kill := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer kill.Stop()
	if err := c.Run(); err != nil && c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestRemote: a run by the service looks like one here.
func TestRemote(t *testing.T) {
	s := newService(t, nil)
	guard := s.dir + "/guard.json"
	if err := os.WriteFile(guard, []byte(`{"extends": "workspace", "blocked_paths": ["${WORK_DIR}/shut"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wide := s.dir + "/wide.json"
	if err := os.WriteFile(wide, []byte(`{"extends": "workspace", "write_paths": ["`+s.dir+`"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.dir+"/projects/p/shut", []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := []string{"run", "--server", s.dir + "/s/sock"}
	for name, c := range map[string]struct {
		args             []string
		stdin            string
		code             int
		out, errContains string
	}{
		"streams and code": {[]string{"--project", "p", "--", "sh", "-c", "pwd; echo err >&2; exit 3"}, "", 3, s.dir + "/projects/p\n", "err"},
		"stdin":            {[]string{"--project", "p", "--stdin", "--", "cat"}, "in\xff", 0, "in\xff", ""},
		"no stdin":         {[]string{"--project", "p", "--", "cat"}, "in", 0, "", ""},
		"variable":         {[]string{"--project", "p", "--env", "A=b=c", "--", "sh", "-c", "echo $A"}, "", 0, "b=c\n", ""},
		"time limit":       {[]string{"--project", "p", "--timeout", "300ms", "--", "sleep", "600"}, "", 124, "", "the time limit"},
		"not found":        {[]string{"--project", "p", "--", "no-such-command"}, "", 127, "", "cannot find the command"},
		"narrowed":         {[]string{"--project", "p", "--policy", guard, "--", "sh", "-c", "cat shut 2>/dev/null || echo shut"}, "", 0, "shut\n", ""},
		"not narrowed":     {[]string{"--project", "p", "--", "cat", "shut"}, "", 0, "text\n", ""},
		"widened":          {[]string{"--project", "p", "--policy", wide, "--", "true"}, "", 125, "", "POLICY_INVALID"},
		"another project":  {[]string{"--project", "none", "--", "true"}, "", 125, "", "PROJECT_NOT_FOUND"},
		"no project":       {[]string{"--", "true"}, "", 125, "", "--project NAME"},
		"a local flag":     {[]string{"--project", "p", "--write", "/tmp", "--", "true"}, "", 125, "", "ambitd run --help"},
		"a secret's value": {[]string{"--project", "p", "--secret", "A=file:/x", "--", "true"}, "", 125, "", "the name alone"},
	} {
		code, out, errs := s.ambit(c.stdin, append(at[:3:3], c.args...)...)
		if code != c.code || out != c.out || !strings.Contains(errs, c.errContains) || c.errContains == "" && errs != "" {
			t.Errorf("%s: %d %q %q", name, code, out, errs)
		}
	}
	code, out, errs := s.ambit("", append(at[:3:3], "--project", "p", "--json", "--receipt", s.dir+"/receipt", "--", "sh", "-c", "echo a; exit 4")...)
	var ans map[string]any
	if err := json.Unmarshal([]byte(out), &ans); err != nil || code != 4 || ans["stdout"] != "a\n" || ans["exit_code"] != 4.0 || ans["run_id"] == "" {
		t.Errorf("--json: %d %q %q %v", code, out, errs, err)
	}
	if b, err := os.ReadFile(s.dir + "/receipt"); err != nil || !bytes.Contains(b, []byte(`"coverage"`)) {
		t.Errorf("receipt %q, %v", b, err)
	}
	if code, _, errs := s.ambit("", "run", "--server", s.dir+"/none", "--project", "p", "--", "true"); code != 125 || !strings.Contains(errs, "cannot ask the service") {
		t.Errorf("no service: %d %q", code, errs)
	}
	if code, _, errs := s.ambit("", "run", "--project", "p", "--", "true"); code != 125 || !strings.Contains(errs, "add --server ADDRESS") {
		t.Errorf("no --server: %d %q", code, errs)
	}
	// The command's own flags are the command's.
	if code, out, _ := s.ambit("", "run", "echo", "--server", "x"); code != 0 || out != "--server x\n" {
		t.Errorf("a command's own flag: %d %q", code, out)
	}
}

// TestRemoteInterrupted: the command ends with who asked for it.
func TestRemoteInterrupted(t *testing.T) {
	s := newService(t, nil)
	c := exec.Command(filepath.Dir(ambitd)+"/ambit", "run", "--server", s.dir+"/s/sock", "--project", "p", "--", "sh", "-c", "echo $$ > pid; sleep 600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.waitFor("pid")
	_ = c.Process.Signal(syscall.SIGINT)
	_ = c.Wait()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		a := s.ask("GET", "/health", "")
		if a.num("running") == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it still runs: %s", a.raw)
		}
	}
}
