// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// world is a test's own part of the file tree: "work" is where commands run
// and may write, "read" may be read, "outside" is not granted. All of it is
// open to the tests' user, so that what is refused is refused by the sandbox.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t, t.TempDir()}
	for _, name := range []string{"work", "read", "outside", "home"} {
		w.must(os.Mkdir(w.at(name), 0o755))
	}
	return w
}

// as is the world for a subtest.
func (w *world) as(t *testing.T) *world { return &world{t, w.dir} }

// at returns the path of a name in the world, "." and ".." as they are.
func (w *world) at(name string) string { return w.dir + "/" + name }

// write makes a file and returns its path.
func (w *world) write(name, content string) string {
	w.Helper()
	w.must(os.WriteFile(w.at(name), []byte(content), 0o644))
	return w.at(name)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// self is this test binary, which plays the sandboxed command.
func self(t testing.TB) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// policyFlags let a command read this binary, read "read" and write "work".
func (w *world) policyFlags(more ...string) []string {
	flags := []string{"--read", self(w), "--read", w.at("read")}
	return slices.Concat(flags, more)
}

// environ is the environment that ambit is called with.
func (w *world) environ() []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + w.at("home"), "LANG=C"}
}

// ambit prepares a call of the program in the working directory.
func (w *world) ambit(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv("AMBIT_BIN"), args...)
	cmd.Dir, cmd.Env = w.at("work"), w.environ()
	return cmd
}

// sandbox prepares a run of argv within flags.
func (w *world) sandbox(flags []string, argv ...string) *exec.Cmd {
	return w.ambit(slices.Concat([]string{"run"}, flags, []string{"--"}, argv)...)
}

// result is how a process ended.
type result struct {
	stdout, stderr string
	code           int            // -1 if a signal ended it
	signal         syscall.Signal // that ended it
	took           time.Duration
}

// finish runs a command to its end, which must come in time.
func finish(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	return finishWithin(t, cmd, patience(30*time.Second))
}

func finishWithin(t testing.TB, cmd *exec.Cmd, limit time.Duration) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &stdout
	}
	if cmd.Stderr == nil {
		cmd.Stderr = &stderr
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	// A pipe that somebody holds open would keep Wait for ever.
	cmd.WaitDelay = patience(4 * time.Second)
	err := cmd.Wait()
	if !timer.Stop() {
		t.Fatalf("%q did not end within %v\nstdout: %s\nstderr: %s", cmd.Args, limit, clip(stdout.String()), clip(stderr.String()))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v\nstderr: %s", cmd.Args, err, clip(stderr.String()))
	}
	r := result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), 0, time.Since(begin)}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		r.signal = ws.Signal()
	}
	return r
}

// succeed runs a command that must end with status 0.
func succeed(t testing.TB, cmd *exec.Cmd) result {
	t.Helper()
	r := finish(t, cmd)
	if r.code != 0 {
		t.Fatalf("%q ended with %d (signal %d)\nstdout: %s\nstderr: %s", clip(strings.Join(cmd.Args, " ")), r.code, r.signal, clip(r.stdout), clip(r.stderr))
	}
	return r
}

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "..."
	}
	return s
}

// answer is what --json prints, as far as tests look at it.
type answer struct {
	ExitCode       int    `json:"exit_code"`
	Code           string `json:"code"`
	Error          string `json:"error"`
	TimedOut       bool   `json:"timed_out"`
	Stdout, Stderr string
	Truncated      bool    `json:"truncated"`
	Receipt        receipt `json:"receipt"`
}

type receipt struct {
	Code, Error, Backend, Kernel string
	LandlockABI                  int `json:"landlock_abi"`
	Coverage                     []struct {
		Item, Subject, Verdict, Mechanism, Reason string
		Accepted                                  bool
	}
	Paths   []struct{ Path, Canonical, Status, Origin, Kind, Reason string }
	Outcome *struct {
		ExitCode       int `json:"exit_code"`
		Signal         int
		TimedOut       bool `json:"timed_out"`
		Executed, Left bool
		Stdout, Stderr *struct{ Bytes, Discarded int64 }
	}
}

// decode reads one JSON value and insists that there is nothing else.
func decode[T any](t testing.TB, text string) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("cannot decode the answer: %v\n%s", err, clip(text))
	}
	if d.More() {
		t.Fatalf("there is more than one value in the answer\n%s", clip(text))
	}
	return v
}

// start starts a command that the test ends by itself; whatever becomes of
// the test, it is killed and waited for.
func start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		cmd.WaitDelay = patience(4 * time.Second)
		_ = cmd.Wait()
	})
}

// waitFor waits for a started command to end, in time.
func waitFor(t testing.TB, cmd *exec.Cmd) syscall.WaitStatus {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience(20*time.Second))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !stop() {
		t.Fatalf("%q did not end in time", clip(strings.Join(cmd.Args, " ")))
	}
	return cmd.ProcessState.Sys().(syscall.WaitStatus)
}
