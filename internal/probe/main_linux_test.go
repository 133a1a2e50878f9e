// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// scenarioArg makes the test program a process that first does something
// irrevocable to itself, as a container or an outer sandbox would, and then
// prints what a full probe finds.
const scenarioArg = "__scenario"

func TestMain(m *testing.M) {
	children["flags"] = flagsChild // a child that only a test needs
	if handled, exit := Dispatch(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if len(os.Args) == 3 && os.Args[1] == scenarioArg {
		runtime.LockOSThread() // a domain or filter holds for one thread
		if err := playScenario(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// heard is the JSON of a report as another program sees it.
type heard struct {
	Facts struct {
		ABI    int    `json:"landlock_abi"`
		Rights Rights `json:"landlock_rights"`
		Scope  int    `json:"ptrace_scope"`
	} `json:"facts"`
	Results []struct {
		Name    Name   `json:"name"`
		Verdict string `json:"verdict"`
		Detail  string `json:"detail"`
		Errno   string `json:"errno"`
	} `json:"results"`
	Layers   Layers `json:"landlock_layers"`
	Settings []struct {
		Name  string `json:"name"`
		State State  `json:"state"`
		Value string `json:"value"`
	} `json:"settings"`
	Blockers []Blocker `json:"blockers"`
}

// expect checks the verdict and errno of a feature; "" is no errno.
func (h *heard) expect(t *testing.T, name Name, verdict Verdict, errno string) {
	t.Helper()
	for _, r := range h.Results {
		if r.Name == name {
			if r.Verdict != verdict.String() || r.Errno != errno {
				t.Errorf("%s: got %q, errno %q (%s), want %q, errno %q", name, r.Verdict, r.Errno, r.Detail, verdict, errno)
			}
			return
		}
	}
	t.Errorf("%s: not in the report", name)
}

func (h *heard) verdict(name Name) string {
	for _, r := range h.Results {
		if r.Name == name {
			return r.Verdict
		}
	}
	return ""
}

func (h *heard) blocked(name Name) bool { return concerns(h.Blockers, name) }

// play runs a scenario in a process of its own, with these attributes.
func play(t *testing.T, scenario string, attr *syscall.SysProcAttr) *heard {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), self, scenarioArg, scenario)
	cmd.Dir = "/" // an ordinary user may not be allowed where the tests run
	cmd.SysProcAttr = attr
	cmd.WaitDelay = time.Minute
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scenario %s: %v\n%s", scenario, err, stderr.Bytes())
	}
	h := new(heard)
	if err := json.Unmarshal(out, h); err != nil {
		t.Fatalf("scenario %s: %v in\n%s", scenario, err, out)
	}
	return h
}

// ordinaryUser makes a process run as nobody, if we are root.
func ordinaryUser() *syscall.SysProcAttr {
	const nobody = 65534
	if os.Geteuid() != 0 {
		return nil
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// inUserNamespace makes a process root of a new user namespace, and owner of
// the other namespaces given.
func inUserNamespace(others uintptr) *syscall.SysProcAttr {
	return childSpec{namespaces: syscall.CLONE_NEWUSER | others, users: mapRoot}.sysProcAttr()
}
