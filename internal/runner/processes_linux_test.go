// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a line of the process table.
type process struct {
	pid, parent int
	state       string
	args        string // with NUL between them
}

// processes lists those that match.
func processes(t *testing.T, match func(process) bool) []process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	var out []process
	for _, d := range dirs {
		stat, err := os.ReadFile(d + "/stat")
		if err != nil {
			continue // it has gone meanwhile
		}
		args, _ := os.ReadFile(d + "/cmdline")
		// The name may hold anything; what follows its ")" does not.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		p := process{state: f[0], args: string(args)}
		p.pid, _ = strconv.Atoi(filepath.Base(d))
		p.parent, _ = strconv.Atoi(f[1])
		if match(p) {
			out = append(out, p)
		}
	}
	return out
}

// running are the processes whose arguments hold a text and that have not ended.
func running(t *testing.T, text string) []process {
	t.Helper()
	return processes(t, func(p process) bool { return strings.Contains(p.args, text) && p.state != "Z" })
}

// children of a process.
func children(t *testing.T, pid int) []process {
	t.Helper()
	return processes(t, func(p process) bool { return p.parent == pid })
}

// until waits for something, for a bounded time.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// one is the only child of a process.
func one(t *testing.T, pid int) int {
	t.Helper()
	var found []process
	until(t, "one child", func() bool { found = children(t, pid); return len(found) == 1 })
	return found[0].pid
}

// stop stops a process, and waits until it is: SIGSTOP is taken by one of its
// threads, when that is next scheduled, and the others run on until then
// (signal(7), "Standard signals"; do_signal_stop in kernel/signal.c).
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "every thread is stopped", func() bool {
		threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat")
		for _, name := range threads {
			stat, _ := os.ReadFile(name)
			if _, rest, _ := bytes.Cut(stat, []byte(") ")); !bytes.HasPrefix(rest, []byte("T")) {
				return false
			}
		}
		return len(threads) > 0
	})
}
