// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// says expects a line of a child.
func (s *subject) says(tb testing.TB, want string) {
	tb.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != want {
		tb.Fatalf("the child says %q (%v), not %q", line, err, want)
	}
}

// tell sends the byte that a child waits for.
func (s *subject) tell(tb testing.TB) {
	tb.Helper()
	if _, err := s.in.Write([]byte{'\n'}); err != nil {
		tb.Fatal(err)
	}
}

// blockedIn counts the threads of a child that sleep in a system call: the
// kernel tells the call's number only of those that don't run
// (proc_pid_syscall(5)).
func (s *subject) blockedIn(tb testing.TB, nr int) int {
	tb.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", s.cmd.Process.Pid))
	if err != nil || len(names) == 0 {
		tb.Fatalf("%d threads, %v", len(names), err)
	}
	n := 0
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			tb.Fatal(err)
		}
		if strings.HasPrefix(string(b), fmt.Sprint(nr, " ")) {
			n++
		}
	}
	return n
}
