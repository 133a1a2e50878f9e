// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/runner"
)

// TestOtherBuild: the two programs must be of one release.
func TestOtherBuild(t *testing.T) {
	c := runner.Config{Supervisor: os.Args[0], Pool: 1}
	c.SetBuild("another build")
	if r, err := runner.New(c); err == nil || !strings.Contains(err.Error(), "install both from one release") {
		t.Errorf("%v %v", r, err)
	}
	for name, text := range map[string]string{
		"/nonexistent/ambit": "no such file", "/dev/null": "no regular file", "/etc/passwd": "cannot start the supervisor", "/bin/true": "cannot use the supervisor",
	} {
		if _, err := runner.New(runner.Config{Supervisor: name}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := children(t, os.Getpid()); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// TestReplacedProgram: another file under the supervisor's name is not
// executed, be the runs cold or warm.
func TestReplacedProgram(t *testing.T) {
	dir := t.TempDir()
	name, gone := filepath.Join(dir, "ambit"), filepath.Join(dir, "evil")
	copyFile(t, os.Args[0], name)
	r := newRunner(t, func(c *runner.Config) { c.Supervisor, c.Pool = name, -1 })
	other := "#!/bin/sh\necho evil > " + gone + "\n"
	if err := os.WriteFile(name+".new", []byte(other), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if res, out, _, err := output(t, r, shell(t, `echo ok`)); err != nil || res.ExitCode != 0 || out != "ok\n" {
			t.Fatalf("%+v %v %q", res, err, out)
		}
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("the other file was executed: %v", err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSecretsAreTheCommandsAlone: a secret is in the command's environment, and
// in no other process's, in no command line, and not in the receipt.
func TestSecretsAreTheCommandsAlone(t *testing.T) {
	const secret = "hunter2-that-nobody-else-has"
	r := newRunner(t, func(c *runner.Config) { c.Pool = -1 })
	q := shell(t, `printf %s "$KEY" | wc -c; echo there > there; read go`)
	q.Secrets = map[string]string{"KEY": secret}
	in, typing := io.Pipe()
	q.Stdin = in
	var out bytes.Buffer
	q.Stdout = &out
	over := make(chan struct{})
	var res *runner.Result
	var err error
	go func() { defer close(over); res, err = r.Run(t.Context(), q) }()
	until(t, "it runs", func() bool { _, err := os.Stat(q.Dir + "/there"); return err == nil })
	holders := 0
	for _, p := range processes(t, func(process) bool { return true }) {
		if strings.Contains(p.args, secret) {
			t.Errorf("process %d has it among its arguments", p.pid)
		}
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/environ")
		if err != nil || !bytes.Contains(environ, []byte(secret)) {
			continue
		}
		if holders++; !strings.Contains(p.args, "read go") {
			t.Errorf("process %d has it in its environment: %q", p.pid, p.args)
		}
	}
	if holders != 1 {
		t.Errorf("%d processes have it in their environment", holders)
	}
	if _, err := typing.Write([]byte("go\n")); err != nil {
		t.Error(err)
	}
	select {
	case <-over:
	case <-time.After(patience):
		t.Fatal("the run does not end")
	}
	if err != nil || res.ExitCode != 0 || strings.TrimSpace(out.String()) != strconv.Itoa(len(secret)) {
		t.Errorf("%+v %v %q", res, err, &out)
	}
}
