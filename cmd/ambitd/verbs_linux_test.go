// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// ambitdRun runs the program to its end.
func ambitdRun(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, ambitd, args...)
	b, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(b), c.ProcessState.ExitCode()
}

// TestVerbs: what is printed, and with which exit code.
func TestVerbs(t *testing.T) {
	s := prepared(t)
	good := s.config(nil)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"version"}, 0, "ambitd "},
		{[]string{"help"}, 0, "Usage:"},
		{nil, 2, "Usage:"},
		{[]string{"no"}, 2, `unknown command "no"`},
		{[]string{"serve"}, 2, "--config FILE is missing"},
		{[]string{"check", "--config", s.dir + "/none"}, 1, "cannot read the configuration"},
		{[]string{"check", "--config", good}, 0, "ok: " + good + "; sandbox: landlock"},
	} {
		if out, code := ambitdRun(t, c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%v: %d %s", c.args, code, out)
		}
	}
	if _, err := os.Stat(s.dir + "/s"); err == nil {
		t.Error("check has made the socket's folder")
	}
}

// TestRootRefused: root serves only if that is asked for.
func TestRootRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skipf("only root could see it: this is user %d", os.Getuid())
	}
	s := prepared(t)
	out, code := ambitdRun(t, "serve", "--config", s.config(nil))
	if code != 1 || !strings.Contains(out, "cannot serve as root") || !strings.Contains(out, "--allow-root") {
		t.Errorf("%d %s", code, out)
	}
	s.start(nil) // with it
	if code := s.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestWrongSupervisor: what is not the ambit of this build is no supervisor.
func TestWrongSupervisor(t *testing.T) {
	s := prepared(t)
	for name, file := range map[string]string{"another program": "/bin/true", "none": s.dir + "/no"} {
		config := s.config(map[string]any{"supervisor": file})
		if out, code := ambitdRun(t, "check", "--config", config); code != 1 || !strings.Contains(out, "SANDBOX_UNAVAILABLE") || !strings.Contains(out, "supervisor") {
			t.Errorf("%s: %d %s", name, code, out)
		}
		fails(t, config, "supervisor", "of the same release")
	}
}
