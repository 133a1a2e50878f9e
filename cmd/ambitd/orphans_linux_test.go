// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stop stops a process, and waits until each of its threads is, or it is gone.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
	for end := deadline(); !stopped(pid); {
		if time.Now().After(end) {
			t.Fatalf("process %d does not stop", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, name := range threads {
		stat, err := os.ReadFile(name)
		state := bytes.TrimLeft(stat[bytes.LastIndexByte(stat, ')')+1:], " ")
		if err == nil && !bytes.HasPrefix(state, []byte("T")) && !bytes.HasPrefix(state, []byte("Z")) {
			return false
		}
	}
	return true
}

// TestBothKilled: the service ends the tree of a run whose supervisor and
// launcher are killed together, before it answers.
func TestBothKilled(t *testing.T) {
	s := newService(t, map[string]any{"pool": 1, "cgroup": "off"})
	tr := s.plant()
	tr.there()
	// Those of the run, and those that wait, when they have started.
	var both []int
	for _, pid := range children(t, s.cmd.Process.Pid) {
		both = append(append(both, children(t, pid)...), pid)
	}
	for _, pid := range both {
		stop(t, pid)
	}
	for _, pid := range both {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	a := <-tr.over
	tr.gone()
	if a == nil || a.status != 200 || a.num("exit_code") != 137 || a.str("stdout") != "out\n" ||
		!strings.Contains(a.str("error"), "nothing of the command is left") || strings.Contains(string(a.raw), `"left":true`) {
		t.Fatalf("%+v", a)
	}
	for range 3 {
		if a := s.run("echo again", nil); a.str("stdout") != "again\n" {
			t.Errorf("%s", a.raw)
		}
	}
}
