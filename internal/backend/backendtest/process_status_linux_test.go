// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestExitStatus: the command's own status comes through.
func TestExitStatus(t *testing.T) {
	w := newWorld(t)
	step := 1
	if slow() {
		step = 16
	}
	codes := []int{1, 2, 124, 125, 126, 127, 128, 129, 254, 255}
	for n := 0; n < 256; n += step {
		codes = append(codes, n)
	}
	var wg sync.WaitGroup
	for _, part := range [][]int{codes[:len(codes)/2], codes[len(codes)/2:]} {
		wg.Go(func() {
			for _, n := range part {
				cmd := w.sandbox(nil, "/bin/sh", "-c", fmt.Sprintf("exit %d", n))
				if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != n {
					t.Errorf("exit %d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestDeadlySignals: a command that signal n ends is reported as 128+n, the
// signal is in the receipt, and no memory dump is written: where it would go,
// core_pattern says, and not the policy.
func TestDeadlySignals(t *testing.T) {
	w := newWorld(t)
	harmless := map[syscall.Signal]bool{
		syscall.SIGCHLD: true, syscall.SIGCONT: true, syscall.SIGURG: true, syscall.SIGWINCH: true,
		syscall.SIGSTOP: true, syscall.SIGTSTP: true, syscall.SIGTTIN: true, syscall.SIGTTOU: true, // stop
	}
	for _, n := range []syscall.Signal{
		1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 34, 64,
	} {
		script, want := fmt.Sprintf("ulimit -c unlimited 2>/dev/null; kill -%d $$; exit 3", n), 128+int(n)
		if harmless[n] {
			if n == syscall.SIGSTOP || n == syscall.SIGTSTP || n == syscall.SIGTTIN || n == syscall.SIGTTOU {
				continue // TestTerminalStop
			}
			want = 3
		}
		cmd := w.sandbox([]string{"--receipt", w.at("receipt")}, "/bin/sh", "-c", script)
		r := finish(t, cmd)
		b, err := os.ReadFile(w.at("receipt"))
		w.must(err)
		rec := decode[receipt](t, string(b))
		if r.code != want || rec.Outcome == nil || rec.Outcome.ExitCode != want {
			t.Errorf("signal %d: ended with %d (receipt %+v), want %d\n%s", n, r.code, rec.Outcome, want, r.stderr)
			continue
		}
		if got := rec.Outcome.Signal; (want == 128+int(n)) != (got == int(n)) {
			t.Errorf("signal %d: the receipt says signal %d", n, got)
		}
	}
	entries, err := os.ReadDir(w.at("work"))
	w.must(err)
	for _, e := range entries {
		t.Errorf("there is %q in the working directory after memory faults", e.Name())
	}
}

// TestNotExecuted: a command that is not there is 127, one that can't be
// executed 126, and both say why.
func TestNotExecuted(t *testing.T) {
	w := newWorld(t)
	makeObjects(t, w.at("work/o"))
	makeObjects(t, w.at("outside/o"))
	w.write("work/orphan", "#!/no/such/interpreter\n")
	w.must(os.Chmod(w.at("work/orphan"), 0o755))
	w.write("work/text", "echo no first line\n")
	w.must(os.Chmod(w.at("work/text"), 0o755))
	for _, c := range []struct {
		name, command string
		code          int
		says          string
	}{
		{"not in PATH", "no-such-command", 127, "no-such-command"},
		{"no such file", "./missing", 127, "missing"},
		{"not executable", "./o/f", 126, "not executable"},
		{"folder", "./o", 126, "./o"},
		{"outside", "../outside/o/x", 126, "policy"},
		{"no interpreter", "./orphan", 126, "interpreter"},
		{"no program", "./text", 126, "text"},
		{"granted", "./o/x", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := finish(t, w.sandbox(nil, c.command))
			if r.code != c.code || !strings.Contains(r.stderr, c.says) {
				t.Errorf("ended with %d and said %q, want %d and a word of %q", r.code, r.stderr, c.code, c.says)
			}
			cmd := w.sandbox([]string{"--json"}, c.command)
			ans := decode[answer](t, finish(t, cmd).stdout)
			if ans.ExitCode != c.code || ans.Code != "" || ans.Receipt.Outcome == nil || ans.Receipt.Outcome.Executed != (c.code == 0) {
				t.Errorf("--json: %+v, outcome %+v", ans, ans.Receipt.Outcome)
			}
		})
	}
}

// TestArguments: every byte of every argument comes through.
func TestArguments(t *testing.T) {
	w := newWorld(t)
	var all strings.Builder
	for b := 1; b < 256; b++ {
		all.WriteByte(byte(b))
	}
	args := []string{"args", "", " ", "a b", "--", "-x", "$HOME", "'\"", "\n", all.String(), strings.Repeat("x", 128<<10-1), "\xff\xfe"}
	r := w.inside(w.policyFlags(), args)[0]
	if want := fmt.Sprintf("%q", args[1:]); r.detail != want {
		t.Errorf("the arguments came as %s", clip(r.detail))
	}
	// 1.5 MB of them: execve takes a quarter of the stack limit, 2 MB of 8.
	many := []string{"args"}
	for range 12 {
		many = append(many, strings.Repeat("y", 120<<10))
	}
	if r := w.inside(w.policyFlags(), many)[0]; len(r.detail) < 12*120<<10 {
		t.Errorf("of 1.4 MB arguments %d bytes came", len(r.detail))
	}
}

// TestTimeout: the time limit ends the whole tree, whatever it holds against
// it, and ambit ends with 124.
func TestTimeout(t *testing.T) {
	w := newWorld(t)
	mark := w.mark()
	script := fmt.Sprintf("trap '' TERM INT HUP; %s op spread %s; %[1]s op wait %[2]s & wait", self(t), mark)
	cmd := w.sandbox(w.policyFlags("--timeout", pause(2*time.Second).String()), "/bin/sh", "-c", script)
	r := finish(t, cmd)
	if r.code != 124 || r.took > patience(6*time.Second) {
		t.Errorf("ended with %d after %v, want 124 soon\n%s", r.code, r.took, r.stderr)
	}
	w.gone(mark)
	if !strings.Contains(r.stderr, "time limit") {
		t.Errorf("said %q, want a word on the time limit", r.stderr)
	}
	cmd = w.sandbox([]string{"--json", "--timeout", "200ms"}, "/bin/sleep", "60")
	ans := decode[answer](t, finish(t, cmd).stdout)
	if ans.ExitCode != 124 || !ans.TimedOut || ans.Receipt.Outcome == nil || !ans.Receipt.Outcome.TimedOut {
		t.Errorf("--json: exit code %d, timed out %v", ans.ExitCode, ans.TimedOut)
	}
	if r := finish(t, w.sandbox([]string{"--timeout", "1m"}, "/bin/true")); r.code != 0 || r.took > patience(20*time.Second) {
		t.Errorf("a command that ends in time ended with %d after %v", r.code, r.took)
	}
}
