// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// line is what the probe prints for a signal.
func line(s syscall.Signal) string { return fmt.Sprintf("=OK %q", fmt.Sprint(int(s))) }

// settle gives a second signal the time to arrive, if there is one.
func settle() { time.Sleep(pause(100 * time.Millisecond)) }

// TestSignalPassed: what is sent to ambit reaches the command, once.
func TestSignalPassed(t *testing.T) {
	w := newWorld(t)
	c := w.converseWith(w.sandbox(w.policyFlags(), self(t), probeArg, "signals"))
	read := func() string {
		t.Helper()
		timer := time.AfterFunc(patience(20*time.Second), func() { _ = c.cmd.Process.Kill() })
		defer timer.Stop()
		s, err := c.out.ReadString('\n')
		if err != nil {
			t.Fatal("the command says nothing any more")
		}
		return strings.TrimSpace(s)
	}
	if s := read(); s != `=OK "ready"` {
		t.Fatal(s)
	}
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGTERM} {
		w.must(c.cmd.Process.Signal(s))
		if got := read(); got != line(s) {
			t.Errorf("after signal %d the command got %s: once each, in order", s, got)
		}
	}
	if ws := waitFor(t, c.cmd); ws.ExitStatus() != 7 {
		t.Errorf("ended with %v, want the command's 7", ws)
	}
}

// TestSignalDefault: a command that does nothing against a signal ends by it.
func TestSignalDefault(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2} {
		w := newWorld(t)
		cmd := w.sandbox(nil, "/bin/sh", "-c", ": > started; exec sleep 60")
		start(t, cmd)
		eventually(t, "the command runs", func() bool { return fileExists(w.at("work/started")) })
		w.must(cmd.Process.Signal(s))
		if ws := waitFor(t, cmd); ws.ExitStatus() != 128+int(s) {
			t.Errorf("after signal %d ambit ended with %v, want status %d", s, ws, 128+int(s))
		}
		if entries, _ := os.ReadDir(w.at("work")); len(entries) != 1 {
			t.Errorf("after signal %d there is %v in the working directory", s, entries)
		}
	}
}

// TestSignalDuringSetup: whenever a signal comes, either nothing ran and the
// exit code says so, or the signal reached the command.
func TestSignalDuringSetup(t *testing.T) {
	w := newWorld(t)
	const rounds = 60
	ran := 0
	for i := range times(rounds) {
		cmd := w.sandbox(nil, "/bin/sh", "-c", ": > started; exec sleep 60")
		start(t, cmd)
		time.Sleep(pause(time.Duration(i*rounds/times(rounds)) * time.Millisecond))
		if i == times(rounds)-1 { // however slow the machine is, one comes late enough
			eventually(t, "the command runs", func() bool { return fileExists(w.at("work/started")) })
		}
		w.must(cmd.Process.Signal(syscall.SIGTERM))
		ws := waitFor(t, cmd)
		started := os.Remove(w.at("work/started")) == nil
		switch code := ws.ExitStatus(); {
		case code == 128+int(syscall.SIGTERM):
			ran++
		case ws.Signaled() && ws.Signal() == syscall.SIGTERM && !started: // before ambit caught it
		case code == 125 && !started:
		default:
			t.Errorf("SIGTERM after %d ms: ambit ended with %v, and the command had run: %v", i, ws, started)
		}
	}
	if ran == 0 {
		t.Error("no command was reached")
	}
}

// TestSignalIgnored: hang-ups and interrupts that the caller ignores, the
// command ignores (nohup, background jobs of scripts). Go's runtime takes over
// every other signal before main (initsig in runtime/signal_unix.go).
func TestSignalIgnored(t *testing.T) {
	w := newWorld(t)
	for ignored, want := range map[string]string{"": "0000000000000000", "HUP": "0000000000000001", "INT": "0000000000000002", "HUP INT": "0000000000000003"} {
		cmd := w.sandbox(nil, "/bin/sed", "-n", "s/^SigIgn:\t//p", "/proc/self/status")
		if ignored != "" {
			cmd = throughShell(cmd, "trap '' "+ignored+`; exec "$0" "$@"`)
		}
		if r := succeed(t, cmd); strings.TrimSpace(r.stdout) != want {
			t.Errorf("with %q ignored: the command ignores %s, want %s", ignored, strings.TrimSpace(r.stdout), want)
		}
	}
}

// TestTerminalKeys: what the terminal sends to everybody in the foreground
// reaches the command once, and ambit passes nothing on besides.
func TestTerminalKeys(t *testing.T) {
	w := newWorld(t)
	tt := openTerminal(t)
	cmd := w.sandbox(w.policyFlags(), self(t), probeArg, "ioctl", "0", "0x5412", "x:61", probeNext, "isatty", "0", "1", "2", probeNext, "get", "/dev/tty", probeNext, "signals")
	// get /dev/tty reads a line: what is typed, and nothing that the command
	// typed itself (TIOCSTI).
	tt.run(cmd)
	tt.expect(`=EPERM ""`, 1)
	tt.expect("=OK \"OK OK OK\"\r\n", 1)
	tt.press("typed\n\x04")
	tt.expect(`=OK "typed\n"`, 1)
	tt.expect(`=OK "ready"`, 1)
	for _, c := range []struct {
		key  string
		want syscall.Signal
	}{{"\x03", syscall.SIGINT}, {"\x1c", syscall.SIGQUIT}} {
		for n := 1; n <= 2; n++ {
			tt.press(c.key)
			tt.expect(line(c.want), n)
			settle()
			if got := tt.count(line(c.want)); got != n {
				t.Errorf("after %d times %q the command got signal %d %d times", n, c.key, c.want, got)
			}
		}
	}
	w.must(cmd.Process.Signal(syscall.SIGTERM))
	if ws := waitFor(t, cmd); ws.ExitStatus() != 7 {
		t.Errorf("ended with %v, want 7", ws)
	}
}

// TestTerminalReopen: scripts write to /dev/stderr, and read /dev/stdin, also
// where these are the terminal; its other users' terminals stay closed.
func TestTerminalReopen(t *testing.T) {
	w := newWorld(t)
	tt, foreign := openTerminal(t), openTerminal(t)
	cmd := w.sandbox(w.policyFlags(), self(t), probeArg, "put", "/dev/stderr", "WRONLY", "written\n", probeNext, "put", "/dev/tty", "WRONLY", "to the tty\n", probeNext,
		"get", foreign.name, probeNext, "put", foreign.name, "WRONLY", "x", probeNext, "get", "/dev/stdin")
	tt.run(cmd)
	tt.expect("to the tty", 1)
	tt.expect("=EACCES \"\"\r\n", 2) // the echo of what is typed must not mix with it
	tt.press("typed\n\x04")
	if ws := waitFor(t, cmd); ws != 0 {
		t.Errorf("ended with %v", ws)
	}
	tt.expect("=OK \"typed\\n\"\r\n", 1)
	want := []string{`=OK "8"`, `=OK "11"`, `=EACCES ""`, `=EACCES ""`, `=OK "typed\n"`}
	var got []string
	for _, l := range strings.Split(tt.text(), "\r\n") {
		if strings.HasPrefix(l, "=") {
			got = append(got, l)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTerminalGone: when the terminal goes, so does the command.
func TestTerminalGone(t *testing.T) {
	w := newWorld(t)
	mark := w.mark()
	tt := openTerminal(t)
	cmd := w.sandbox(w.policyFlags(), "/bin/sh", "-c", fmt.Sprintf("%s op spread %s; : > started; exec sleep 60", self(t), mark))
	tt.run(cmd)
	eventually(t, "the command runs", func() bool { return fileExists(w.at("work/started")) })
	w.must(tt.master.Close())
	if ws := waitFor(t, cmd); ws.ExitStatus() != 128+int(syscall.SIGHUP) {
		t.Errorf("ended with %v, want status 129", ws)
	}
	w.gone(mark)
}

// state is the letter of /proc/PID/stat: T is stopped.
func (w *world) state(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "gone"
	}
	return strings.Fields(string(b[slices.Index(b, ')')+1:]))[0]
}

// TestTerminalStop: Ctrl-Z stops all of it, fg continues it, as a shell's
// other jobs, and a stopped job can be killed.
func TestTerminalStop(t *testing.T) {
	w := newWorld(t)
	tt := openTerminal(t)
	run := strings.Join(slices.Concat([]string{os.Getenv("AMBIT_BIN"), "run"}, w.policyFlags(), []string{"--"}), " ")
	shell := w.ambit()
	shell.Path, shell.Args = "/bin/bash", []string{"bash", "--norc", "--noprofile", "-i"}
	shell.Env = append(shell.Env, "PS1=ready> ", "TERM=dumb", "HISTFILE=/dev/null")
	tt.run(shell)
	tt.expect("ready> ", 1)
	mark := w.mark()
	// What is typed before the command reads may be lost to the shell's editor.
	tt.press(run + " /bin/sh -c 'echo up$((1+1)); exec cat'\n")
	tt.expect("up2", 1)
	tt.press("first\n")
	tt.expect("first", 2) // what was typed, and what cat says
	tt.press("\x1a")
	tt.expect("Stopped", 1)
	ambit := w.childrenOf(shell.Process.Pid)[0]
	command := w.childrenOf(w.launcherOf(ambit))[0]
	for _, pid := range []int{ambit, command} {
		if s := w.state(pid); s != "T" {
			t.Errorf("after Ctrl-Z process %d is %s, want T", pid, s)
		}
	}
	tt.press("fg\n")
	eventually(t, "the command runs on", func() bool { return w.state(command) == "S" })
	tt.press("second\n")
	tt.expect("second", 2)
	tt.press("\x04")
	tt.press("echo status=$?.\n")
	tt.expect("status=0.", 1)
	tt.press(run + fmt.Sprintf(" /bin/sh -c '%s op spread %s; exec sleep 60'\n", self(t), mark))
	eventually(t, "the command has spread", func() bool { return len(w.marked(mark)) == spreadCount })
	tt.press("\x1a")
	tt.expect("Stopped", 2)
	ambit = w.childrenOf(shell.Process.Pid)[0]
	tt.press("kill %1\n")
	eventually(t, "ambit has ended", func() bool { s := w.state(ambit); return s == "gone" || s == "Z" })
	w.gone(mark)
}
