// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

// tree is a command whose processes hold a pipe that the test reads: its end
// is the end of the last of them.
type tree struct {
	s    *service
	pipe *os.File
	over chan *answer
}

const treeScript = `exec 3>pipe; (setsid sh -c 'trap "" TERM HUP INT; sleep 1000; sleep 1000' &); echo out; touch begun; sleep 1000`

// plant starts the tree and waits until all of it is there.
func (s *service) plant() *tree {
	s.t.Helper()
	dir := s.dir + "/projects/p"
	if err := syscall.Mkfifo(dir+"/pipe", 0o600); err != nil {
		s.t.Fatal(err)
	}
	tr := &tree{s: s, over: make(chan *answer, 1)}
	go func() {
		a, err := s.try(s.t.Context(), "POST", "/api/execute", body(treeScript, nil))
		if err != nil {
			a = nil
		}
		tr.over <- a
	}()
	var err error
	if tr.pipe, err = os.OpenFile(dir+"/pipe", os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		s.t.Fatal(err)
	}
	s.waitFor("begun")
	s.t.Cleanup(func() { _ = tr.pipe.Close() })
	return tr
}

// gone demands that nothing of the tree is left, or is about to end.
func (tr *tree) gone() {
	tr.s.t.Helper()
	if err := tr.pipe.SetReadDeadline(deadline()); err != nil {
		tr.s.t.Fatal(err)
	}
	if _, err := tr.pipe.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		tr.s.t.Errorf("the tree is still there: %v", err)
	}
	for _, name := range []string{"pipe", "begun"} {
		_ = os.Remove(tr.s.dir + "/projects/p/" + name)
	}
}

// there demands that it is.
func (tr *tree) there() {
	tr.s.t.Helper()
	if err := tr.pipe.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		tr.s.t.Fatal(err)
	}
	if _, err := tr.pipe.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		tr.s.t.Fatalf("the tree is gone already: %v", err)
	}
}

// children are the processes whose parent is one.
func children(t *testing.T, parent int) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it is gone
		}
		// "PID (NAME) STATE PPID", and the name may hold anything.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestServerKilled: the tree of a run ends with the service, however that
// ends, and the next start notes that the run was lost.
func TestServerKilled(t *testing.T) {
	s := newService(t, nil)
	tr := s.plant()
	tr.there()
	s.end(syscall.SIGKILL)
	tr.gone()
	if a := <-tr.over; a != nil {
		t.Errorf("it was answered: %s", a.raw)
	}
	s.start(nil)
	runs, bad, err := journal.Read(s.dir + "/journal")
	if err != nil || bad > 0 || len(runs) != 1 || runs[0].End == nil || runs[0].End.Outcome != journal.Lost {
		t.Fatalf("%v, %d bad, %d runs", err, bad, len(runs))
	}
	if a := s.run("echo again", nil); a.str("stdout") != "again\n" {
		t.Errorf("%s", a.raw)
	}
}

// TestSupervisorKilled: so does the tree of a run whose supervisor is killed;
// the answer has what was put out, and the next run is none the worse.
func TestSupervisorKilled(t *testing.T) {
	s := newService(t, map[string]any{"pool": 1})
	tr := s.plant()
	tr.there()
	// One that runs the tree, and one that waits, when it has started.
	for _, pid := range children(t, s.cmd.Process.Pid) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	tr.gone()
	a := <-tr.over
	if a == nil || a.status != 200 || a.num("exit_code") != 137 || a.str("stdout") != "out\n" || !strings.Contains(a.str("error"), "supervisor was killed") || strings.Contains(string(a.raw), `"executed":false`) {
		t.Fatalf("%+v", a)
	}
	if receipt, _ := a.json["receipt"].(map[string]any); receipt["outcome"].(map[string]any)["lost"] != true {
		t.Errorf("the receipt: %s", a.raw)
	}
	for range 3 {
		if a := s.run("echo again", nil); a.str("stdout") != "again\n" {
			t.Errorf("%s", a.raw)
		}
	}
	if h := s.ask("GET", "/health?fresh=1", ""); h.str("status") != "ok" || h.num("running") != 0 {
		t.Errorf("%s", h.raw)
	}
	runs, _, err := journal.Read(s.dir + "/journal")
	if err != nil || len(runs) != 4 || runs[0].End == nil || runs[0].End.Outcome != journal.Lost || runs[3].End.Outcome != journal.Exited {
		t.Errorf("the journal: %d runs, %v", len(runs), err)
	}
}
