// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/ambit-sandbox/ambit/internal/secctx"
)

// context runs "ambit context --json" with more arguments, behind a launcher.
func contextOf(t *testing.T, launcher []string, args ...string) *secctx.Context {
	t.Helper()
	out, errs, code := run(t, t.TempDir(), append(append(slices.Clone(launcher), program(t), "context", "--json"), args...)...)
	var c secctx.Context
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != 0 {
		t.Fatalf("ended with %d, %v: %s", code, err, errs)
	}
	return &c
}

// start starts a process that the test ends.
func start(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// TestNofileIsTheCallers: Go's runtime raises the limit of open files for
// itself; what is told, and handed on, is what the caller had.
func TestNofileIsTheCallers(t *testing.T) {
	limited := []string{"prlimit", "--nofile=100:200"}
	want := secctx.Limit{Soft: "100", Hard: "200"}
	if got := contextOf(t, limited).Limits["nofile"]; got != want {
		t.Errorf("self: %v", got)
	}
	if got := contextOf(t, limited, "--", "true").Limits["nofile"]; got != want {
		t.Errorf("started: %v", got)
	}
	if got := contextOf(t, limited, "--through", "--", "env").Limits["nofile"]; got != want {
		t.Errorf("through: %v", got)
	}
	if got := contextOf(t, nil).Limits["nofile"]; got == want {
		t.Errorf("without the limit: %v", got)
	}
	if c := contextOf(t, []string{"prlimit", "--nofile=24:24"}); c.Limits["nofile"].Hard != "24" {
		t.Errorf("the tightest limit: %v", c.Limits["nofile"])
	}
	if _, errs, code := run(t, ".", "prlimit", "--nofile=20:20", program(t), "context"); code != 1 || !strings.Contains(errs, "limit of 20 open files") {
		t.Errorf("a limit that is too tight: ended with %d: %.300s", code, errs)
	}
}

// TestContextInSandbox: the product's own sandbox shows, with its layers
// counted, its filter, and no_new_privs.
func TestContextInSandbox(t *testing.T) {
	out := contextOf(t, nil)
	in := contextOf(t, []string{program(t), "run", "--read", filepath.Dir(program(t)), "--"})
	a, b := out.Confinement, in.Confinement
	if a.LandlockLayers == nil || b.LandlockLayers == nil || *b.LandlockLayers <= *a.LandlockLayers {
		t.Errorf("Landlock layers outside %v, inside %v; %v", a.LandlockLayers, b.LandlockLayers, in.Unknown["confinement.landlock_layers"])
	}
	if !*b.NoNewPrivs || b.Seccomp != "filter" || *b.SeccompFilters <= *a.SeccompFilters {
		t.Errorf("inside: %v, %s, %d filters; outside %d", *b.NoNewPrivs, b.Seccomp, *b.SeccompFilters, *a.SeccompFilters)
	}
	if os.Geteuid() == 0 && (len(out.Capabilities.Effective) == 0 || len(in.Capabilities.Effective) > 0) {
		t.Errorf("effective outside %v, inside %v", out.Capabilities.Effective, in.Capabilities.Effective)
	}
}

// TestContextOfOthers: of another user's process there are reasons instead of
// values, and no failure; what is open to all is told.
func TestContextOfOthers(t *testing.T) {
	needRoot(t)
	cmd := exec.Command("sleep", "100")
	cmd.Env = []string{"AMBIT_TEST_SECRET=hunter2"}
	pid := strconv.Itoa(start(t, cmd))
	mine := contextOf(t, nil, "--pid", pid)
	if mine.Environment == nil || !slices.Contains(mine.Environment.Names.Items, "AMBIT_TEST_SECRET") || !strings.HasSuffix(mine.Program.Executable, "/sleep") {
		t.Fatalf("root sees %+v, %+v", mine.Environment, mine.Program)
	}
	theirs := contextOf(t, nobody, "--pid", pid, "--path", "/etc")
	for _, field := range []string{"environment", "descriptors", "program.executable", "program.cwd", "namespaces.user", "sockets", "paths.0", "confinement.landlock_layers"} {
		if r, ok := theirs.Unknown[field]; !ok || r.Why == "" || r.Needs == "" {
			t.Errorf("%s: %+v, %v", field, r, ok)
		}
	}
	if theirs.Environment != nil || theirs.Descriptors != nil || theirs.Program.Executable != "" || theirs.Confinement.LandlockLayers != nil {
		t.Error("there are values for what could not be read")
	}
	if theirs.Identity.User == nil || theirs.Identity.User.Effective.ID != 0 || len(theirs.Capabilities.Effective) == 0 || theirs.Limits["nofile"].Soft == "" {
		t.Errorf("what all may see is missing: %+v", theirs.Identity)
	}
	if theirs.Paths[0].End != "refused" {
		t.Errorf("the path: %+v", theirs.Paths[0])
	}
}

// TestContextOfNobody: a process that is gone is an error.
func TestContextOfNobody(t *testing.T) {
	cmd := exec.Command("true")
	must(t, cmd.Run())
	_, errs, code := run(t, ".", program(t), "context", "--pid", strconv.Itoa(cmd.Process.Pid))
	if code != 1 || !strings.Contains(errs, "cannot find process") {
		t.Errorf("ended with %d: %s", code, errs)
	}
}

// TestContextIsSafeToPrint: names that others choose can't write to the
// terminal, forge a line, or grow without bound.
func TestContextIsSafeToPrint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "\x1b]0;evil\x07\nuser 0 (root)\u009b2J\u202e")
	must(t, os.Mkdir(dir, 0o755))
	sleeper := filepath.Join(dir, "sleep\x1b[2J")
	path, err := exec.LookPath("sleep")
	must(t, err)
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(sleeper, content, 0o755))
	hostile, err := os.Create(filepath.Join(dir, "open\x1b[1m"))
	must(t, err)
	defer hostile.Close()
	cmd := exec.Command(sleeper)
	cmd.Args = append([]string{"100\x1b[31m\ntaken forged", "100"}, slices.Repeat([]string{"0.01"}, 5000)...)
	cmd.Dir, cmd.ExtraFiles = dir, []*os.File{hostile}
	cmd.Env = []string{"EVIL\x1b[2J\nNAME=hunter2", "TOKEN=hunter2"}
	pid := strconv.Itoa(start(t, cmd))
	for _, args := range [][]string{{"context", "--pid", pid, "--path", "."}, {"context", "--json", "--pid", pid, "--path", "."}, {"diff", "pid:" + pid, "self"}, {"diff", "--json", "self", "pid:" + pid}} {
		out, errs, code := run(t, ".", append([]string{program(t)}, args...)...)
		if code > 1 || !strings.Contains(out, "x1b") {
			t.Errorf("%q: ended with %d: %s", args, code, errs)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q prints %q", args, out[max(0, i-40):min(len(out), i+40)])
		}
		if strings.Contains(out, "hunter2") {
			t.Errorf("%q prints a value", args)
		}
		if strings.Contains(out, "\ntaken forged") || len(out) > 200_000 {
			t.Errorf("%q prints %d bytes, or a forged line", args, len(out))
		}
	}
	c := contextOf(t, nil, "--pid", pid)
	if a := c.Program.Arguments; a.Total != 5002 || len(a.Items) != 256 {
		t.Errorf("%d of %d arguments", len(a.Items), a.Total)
	}
}

// TestContextOfStarted: what COMMAND starts as is told, and nothing of it runs.
func TestContextOfStarted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	script := []string{"/bin/sh", "-c", ": >" + file}
	c := contextOf(t, sh("umask 027; exec 7</dev/null"), append([]string{"--"}, script...)...)
	if c.Taken.Of != "started" || c.Identity.Umask != "0027" || c.Program.Arguments.Items[1] != "-c" || len(c.Taken.Notes) == 0 {
		t.Errorf("got %+v, %+v, %+v", c.Taken, c.Program, c.Identity)
	}
	if !slices.ContainsFunc(c.Descriptors.Items, func(d secctx.Descriptor) bool { return d.FD == 7 }) {
		t.Errorf("the inherited descriptor is missing: %+v", c.Descriptors)
	}
	if c.Confinement.LandlockLayers == nil {
		t.Errorf("the layers are not counted: %+v", c.Unknown["confinement.landlock_layers"])
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the command ran")
	}
	out, errs, code := run(t, ".", program(t), "context", "--", "no-such-program")
	if code != 1 || !strings.Contains(errs, "cannot find the program") {
		t.Errorf("ended with %d: %s%s", code, out, errs)
	}
	must(t, exec.Command(script[0], script[1:]...).Run())
	if _, err := os.Stat(file); err != nil {
		t.Error("the command does nothing when it does run:", err)
	}
}

// TestContextThrough: a launcher is run, and what it makes is told; one that
// prints, or does not run what is behind it, is an error.
func TestContextThrough(t *testing.T) {
	c := contextOf(t, nil, "--through", "--path", "/etc", "--", "setpriv", "--no-new-privs")
	if !*c.Confinement.NoNewPrivs || len(c.Paths) != 1 || c.Taken.Record != 1 {
		t.Errorf("got %+v, %+v", c.Confinement, c.Taken)
	}
	for _, bad := range [][]string{{"true"}, {"/bin/sh", "-c", "echo hello; exec \"$@\"", "sh"}, {"false"}} {
		if out, errs, code := run(t, ".", append([]string{program(t), "context", "--through", "--"}, bad...)...); code != 1 || !strings.Contains(errs, "cannot look through") {
			t.Errorf("%q: ended with %d: %s%s", bad, code, out, errs)
		}
	}
	out, _, code := run(t, ".", program(t), "diff", "self", "--", "setpriv", "--no-new-privs")
	if code != 1 || !strings.HasPrefix(out, "no_new_privs\n    A: false\n    B: true\n") {
		t.Errorf("ended with %d: %s", code, out)
	}
	out, _, code = run(t, ".", program(t), "diff", "self", "--", "env")
	if code != 0 || !strings.HasPrefix(out, "nothing differs") {
		t.Errorf("ended with %d: %s", code, out)
	}
}

// TestContextOfSockets: present, stale, refused, absent and what is none.
func TestContextOfSockets(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "ambit-sockets-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/live"})
	must(t, err)
	defer l.Close()
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/stale"})
	must(t, err)
	old.SetUnlinkOnClose(false)
	must(t, old.Close())
	must(t, os.Chmod(dir+"/live", 0o600))
	must(t, os.WriteFile(dir+"/file", nil, 0o644))
	agent := func(launcher []string, name string) secctx.Socket {
		c := contextOf(t, append(slices.Clone(launcher), "env", "SSH_AUTH_SOCK="+name))
		i := slices.IndexFunc(c.Sockets, func(s secctx.Socket) bool { return s.Name == "ssh-agent" })
		return c.Sockets[i]
	}
	for name, want := range map[string]string{"/live": "present", "/stale": "present", "/gone": "absent", "/file": "not a socket"} {
		s := agent(nil, dir+name)
		if s.State != want || !s.Set || s.Path != dir+name {
			t.Errorf("%s: %+v", name, s)
		}
		if want == "present" && (s.Listening == nil || *s.Listening != (name == "/live")) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := agent(nil, ""); s.State != "none" || s.Set {
		t.Errorf("unset: %+v", s)
	}
	if os.Geteuid() == 0 {
		if s := agent(nobody, dir+"/live"); s.State != "refused" || s.Errno != "EACCES" {
			t.Errorf("as another user: %+v", s)
		}
	}
}

// TestContextOfTerminal: a controlling terminal, and none.
func TestContextOfTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	defer master.Close()
	slave := openSlave(t, master)
	defer slave.Close()
	file := filepath.Join(t.TempDir(), "context.json")
	for _, with := range []bool{true, false} {
		cmd := exec.Command(program(t), "context", "--output", file)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: with}
		start(t, cmd)
		stop := time.AfterFunc(runTime, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		stop.Stop()
		b, _ := os.ReadFile(file)
		var c secctx.Context
		if err2 := json.Unmarshal(b, &c); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if c.Terminal.Present != with || with && (!*c.Terminal.Foreground || c.Terminal.Name != slave.Name()) {
			t.Errorf("with a terminal %v: %+v", with, c.Terminal)
		}
		if d := c.Descriptors.Items[1]; d.Kind != "terminal" || d.Access != "read-write" || d.Reopen != "yes" {
			t.Errorf("descriptor 1 is %+v", d)
		}
		must(t, os.Remove(file))
	}
}
