// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/cli"
	"github.com/ambit-sandbox/ambit/internal/runner"
	"github.com/ambit-sandbox/ambit/internal/supervisor"
	"github.com/ambit-sandbox/ambit/policy"
)

// TestMain makes this very binary the supervisor, if it is started as one.
func TestMain(m *testing.M) {
	ambit.Dispatch(os.Args)
	if len(os.Args) > 1 && (os.Args[1] == supervisor.Arg || os.Args[1] == "doctor") {
		os.Exit(cli.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// patience bounds every wait; nothing is expected to take it.
const patience = 60 * time.Second

func newRunner(t *testing.T, change func(*runner.Config)) *runner.Runner {
	t.Helper()
	c := runner.Config{Supervisor: os.Args[0], Pool: 1}
	if change != nil {
		change(&c)
	}
	r, err := runner.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// shell is a request for the shell in a fresh folder.
func shell(t *testing.T, script string) *runner.Request {
	t.Helper()
	return &runner.Request{Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(),
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir()}}
}

// output runs a request and returns its result, stdout and stderr.
func output(t *testing.T, r *runner.Runner, q *runner.Request) (res *runner.Result, stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	q.Stdout, q.Stderr = &out, &errs
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err = r.Run(ctx, q)
	return res, out.String(), errs.String(), err
}

func TestRun(t *testing.T) {
	r := newRunner(t, nil)
	started := false
	q := shell(t, `echo out; echo err >&2; pwd > file; exit 3`)
	q.Started = func() { started = true }
	res, out, errs, err := output(t, r, q)
	if err != nil || res.ExitCode != 3 || out != "out\n" || errs != "err\n" || !started {
		t.Fatalf("%+v %v %q %q, started %v", res, err, out, errs, started)
	}
	if b, err := os.ReadFile(q.Dir + "/file"); err != nil || strings.TrimSpace(string(b)) != q.Dir {
		t.Errorf("wrote %q, %v", b, err)
	}
	o := res.Receipt.Outcome
	if o == nil || !o.Executed || o.Stdout == nil || *o.Stdout != (ambit.OutputCount{Bytes: 4}) || res.Receipt.Backend == "" || res.Receipt.PolicyDigest == "" || len(res.Receipt.Coverage) == 0 {
		t.Errorf("receipt %+v, outcome %+v", res.Receipt, o)
	}
	if res, _, _, err := output(t, r, shell(t, `echo x > /usr/x; cat /etc/shadow`)); err != nil || res.ExitCode == 0 {
		t.Errorf("not confined: %+v %v", res, err)
	}
}

func TestEnds(t *testing.T) {
	r := newRunner(t, nil)
	second := policy.Duration(time.Second / 2)
	limited := shell(t, `sleep 600`)
	limited.Layers = []policy.Layer{{Name: "t", Policy: policy.Policy{Extends: policy.Workspace, Limits: &policy.Limits{Timeout: &second}}}}
	missing := shell(t, "")
	missing.Argv = []string{"no-such-command"}
	file := shell(t, "")
	file.Argv = []string{"/etc/passwd"}
	for name, c := range map[string]struct {
		q    *runner.Request
		code int
		is   func(o *ambit.Outcome) bool
	}{
		"signal":         {shell(t, `kill -TERM $$`), 143, func(o *ambit.Outcome) bool { return o.Signal == 15 }},
		"kill":           {shell(t, `kill -KILL $$`), 137, func(o *ambit.Outcome) bool { return o.Signal == 9 && !o.Lost }},
		"time limit":     {limited, 124, func(o *ambit.Outcome) bool { return o.TimedOut }},
		"not found":      {missing, 127, func(o *ambit.Outcome) bool { return !o.Executed }},
		"not executable": {file, 126, func(o *ambit.Outcome) bool { return !o.Executed }},
	} {
		res, _, _, err := output(t, r, c.q)
		if err != nil || res.ExitCode != c.code || res.Receipt.Outcome == nil || !c.is(res.Receipt.Outcome) {
			t.Errorf("%s: %+v %+v %v", name, res, res.Receipt.Outcome, err)
		}
	}
}

// TestSetUpFails: what keeps a command from running has its code and its text.
func TestSetUpFails(t *testing.T) {
	r := newRunner(t, nil)
	blocked := shell(t, "true")
	blocked.Layers = []policy.Layer{{Name: "t", Policy: policy.Policy{Extends: policy.Workspace, BlockedPaths: []string{blocked.Dir}}}}
	noTmp := shell(t, "true")
	noTmp.Environ = append(noTmp.Environ, "TMPDIR="+noTmp.Dir+"/missing")
	badSecret := shell(t, "true")
	badSecret.Secrets = map[string]string{"A": ""}
	for name, c := range map[string]struct {
		q    *runner.Request
		is   error
		text string
	}{
		"policy": {blocked, ambit.ErrPolicy, "it closes the working directory"},
		"set-up": {noTmp, ambit.ErrUnavailable, "cannot make the private temporary folder"},
		"secret": {badSecret, ambit.ErrPolicy, "the secret A"},
	} {
		res, _, _, err := output(t, r, c.q)
		if !errors.Is(err, c.is) || res.ExitCode != ambit.ExitUnavailable || res.Code != ambit.CodeOf(c.is) || !strings.Contains(res.Error, c.text) || !strings.Contains(res.Receipt.Error, c.text) {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
	if res, _, _, err := output(t, r, shell(t, "true")); err != nil || res.ExitCode != 0 {
		t.Errorf("control: %+v %v", res, err)
	}
}

// slow yields bytes one by one, so that they come while the command runs.
type slow struct{ rest string }

func (s *slow) Read(b []byte) (int, error) {
	if s.rest == "" {
		return 0, io.EOF
	}
	b[0] = s.rest[0]
	s.rest = s.rest[1:]
	return 1, nil
}

func TestStdin(t *testing.T) {
	r := newRunner(t, nil)
	q := shell(t, `cat`)
	q.Stdin = &slow{"a stream"}
	if _, out, _, err := output(t, r, q); err != nil || out != "a stream" {
		t.Errorf("got %q, %v", out, err)
	}
	// A source without end is left when the command ends.
	reader, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	go func() { _, _ = writer.Write([]byte("one\nmore\n")) }()
	q = shell(t, `read x; echo $x`)
	q.Stdin = reader
	if res, out, _, err := output(t, r, q); err != nil || out != "one\n" || res.ExitCode != 0 {
		t.Errorf("got %q, %v", out, err)
	}
	if _, out, _, err := output(t, r, shell(t, `cat; echo end`)); err != nil || out != "end\n" {
		t.Errorf("no stdin: got %q, %v", out, err)
	}
}

func TestProbe(t *testing.T) {
	h, err := newRunner(t, nil).Probe(t.Context())
	if err != nil || !h.Works || h.Backend == "" {
		t.Errorf("%+v %v", h, err)
	}
}

// TestProbeIsARun: a host where sandboxes work, and no run does, is no host
// where commands can be run.
func TestProbeIsARun(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) {
		c.SetGiven(func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) })
		c.SetGiving(func(pid int) { stop(t, pid) })
	})
	h, err := r.Probe(t.Context())
	if err != nil || h.Works || !strings.Contains(h.Reason, "the supervisor ended before the command was started") {
		t.Errorf("%+v %v", h, err)
	}
}
