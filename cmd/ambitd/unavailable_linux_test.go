// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

// comes waits until a request is answered with a status.
func (s *service) comes(path string, status int) *answer {
	s.t.Helper()
	for end := deadline(); ; time.Sleep(20 * time.Millisecond) {
		a := s.ask("GET", path, "")
		if a.status == status {
			return a
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s is %d, not %d: %s", path, a.status, status, a.raw)
		}
	}
}

// missing demands that a file was not made in the project p.
func (s *service) missing(name string) {
	s.t.Helper()
	if _, err := os.Stat(s.dir + "/projects/p/" + name); !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("%s is there: %v", name, err)
	}
}

// TestUnavailable: where no sandbox can be made nothing runs, the answer says
// so with both streams, the backend and the reason, and readiness follows,
// there and back.
func TestUnavailable(t *testing.T) {
	s := prepared(t)
	s.env = []string{"TMPDIR=" + s.dir + "/tmp"}
	if err := os.Mkdir(s.dir+"/tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	s.start(nil)
	if a := s.run("echo control", nil); a.status != 200 || a.str("stdout") != "control\n" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	s.comes("/readyz", 200)
	// The default policy has a private temporary folder, which has no place.
	if err := os.Rename(s.dir+"/tmp", s.dir+"/away"); err != nil {
		t.Fatal(err)
	}
	for _, accept := range []string{"application/json", "text/event-stream"} {
		a := s.ask("POST", "/api/execute", body("touch ran", nil), "Accept", accept)
		if a.status != 503 || a.str("code") != "SANDBOX_UNAVAILABLE" || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", accept, a.status, a.raw)
		}
		_, out := a.json["stdout"].(string)
		_, errs := a.json["stderr"].(string)
		if !out || !errs || a.num("exit_code") != 125 || a.str("backend") != "landlock" || !strings.Contains(a.str("reason"), "set TMPDIR") || a.str("run_id") == "" {
			t.Errorf("%s: %s", accept, a.raw)
		}
	}
	s.missing("ran")
	s.comes("/readyz", 503) // the failed runs have it look anew
	a := s.ask("GET", "/health", "")
	if sandbox, _ := a.json["shell_sandbox"].(map[string]any); a.str("status") != "degraded" || sandbox["available"] != false || sandbox["detail"] == "" {
		t.Errorf("%s", a.raw)
	}
	if err := os.Rename(s.dir+"/away", s.dir+"/tmp"); err != nil {
		t.Fatal(err)
	}
	for end := deadline(); s.ask("GET", "/health?fresh=1", "").str("status") != "ok"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it stays so: %s", s.ask("GET", "/health", "").raw)
		}
	}
	if a := s.run("echo again", nil); a.str("stdout") != "again\n" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	s.end(syscall.SIGTERM)
	runs, _, err := journal.Read(s.dir + "/journal")
	if err != nil || len(runs) != 4 || runs[1].End.Outcome != journal.Refused || runs[1].End.Code != "SANDBOX_UNAVAILABLE" || runs[3].End.Outcome != journal.Exited {
		t.Errorf("the journal: %d runs, %v", len(runs), err)
	}
}

// smallDisk makes the service keep its journal on a disk of 64 KiB: a mount
// that only it sees, and that goes with it.
func smallDisk(t *testing.T) *service {
	t.Helper()
	s := prepared(t)
	if err := os.Mkdir(s.dir+"/journal", 0o700); err != nil {
		t.Fatal(err)
	}
	unshare := []string{"unshare", "--mount"}
	if os.Getuid() != 0 {
		unshare = append(unshare, "--user", "--map-root-user")
	}
	s.wrap = append(unshare, "sh", "-c", `mount -t tmpfs -o size=64k,mode=700 none "$0" && exec "$@"`, s.dir+"/journal")
	if out, err := exec.Command(s.wrap[0], append(s.wrap[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here, not even in a namespace: %v %s", err, out)
	}
	return s
}

// fill takes all that is left of the service's small disk, and returns what
// gives it back.
func (s *service) fill() (empty func()) {
	s.t.Helper()
	name := fmt.Sprintf("/proc/%d/root%s/journal/fill", s.cmd.Process.Pid, s.dir)
	f, err := os.Create(name)
	if err != nil {
		s.t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		s.t.Fatalf("the disk is not full: %v", err)
	}
	_ = f.Close()
	// What is left of the page that the journal ends in.
	return func() {
		if err := os.Remove(name); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestJournalRequired: on a full disk nothing runs that must be noted, and the
// service says so; when there is room again, it goes on without a new start.
func TestJournalRequired(t *testing.T) {
	s := smallDisk(t)
	s.start(map[string]any{"journal_required": true})
	if a := s.run("echo control", nil); a.status != 200 || a.str("stdout") != "control\n" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	empty := s.fill()
	// A line that fits into what is left of a page is noted still.
	long := body("touch ran; # "+strings.Repeat("x", 8000), nil)
	for range 2 {
		if a := s.ask("POST", "/api/execute", long); a.status != 503 || a.str("code") != "JOURNAL_UNAVAILABLE" {
			t.Errorf("%d %s", a.status, a.raw)
		}
	}
	s.missing("ran")
	s.comes("/readyz", 503)
	a := s.ask("GET", "/health", "")
	j, _ := a.json["journal"].(map[string]any)
	if detail, _ := j["detail"].(string); a.str("status") != "degraded" || j["ok"] != false || j["lost_lines"] != 2.0 || !strings.Contains(detail, "no space left") {
		t.Errorf("%s", a.raw)
	}
	empty()
	s.comes("/readyz", 200)
	if a := s.ask("POST", "/api/execute", long); a.status != 200 || a.num("exit_code") != 0 {
		t.Errorf("with room again: %d %s", a.status, a.raw)
	}
	s.waitFor("ran")
}

// TestJournalFull: where it need not be noted, a run goes on, and the service
// says that lines are lost. What is noted later is whole.
func TestJournalFull(t *testing.T) {
	s := smallDisk(t)
	s.start(nil)
	empty := s.fill()
	if a := s.run("echo out; exit 3; # "+strings.Repeat("x", 8000), nil); a.status != 200 || a.str("stdout") != "out\n" || a.num("exit_code") != 3 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	a := s.ask("GET", "/health", "")
	if j, _ := a.json["journal"].(map[string]any); a.str("status") != "degraded" || j["ok"] != false || j["lost_lines"] != 2.0 {
		t.Errorf("%s", a.raw)
	}
	if a := s.ask("GET", "/readyz", ""); a.status != 200 {
		t.Errorf("readyz: %d", a.status)
	}
	empty()
	if a := s.run("echo later", nil); a.str("stdout") != "later\n" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	runs, bad, err := journal.Read(fmt.Sprintf("/proc/%d/root%s/journal", s.cmd.Process.Pid, s.dir))
	if err != nil || bad != 0 || len(runs) != 1 || runs[0].End == nil || runs[0].Argv[2] != "echo later" {
		t.Errorf("the journal: %d runs, %d bad, %v", len(runs), bad, err)
	}
}
