// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/child"
)

// TestRunLeavesTheCallerAlone: a program that uses the package goes on with
// its own work. Only one that says that it is there for the run alone gives
// anything up.
func TestRunLeavesTheCallerAlone(t *testing.T) {
	before := restrictions(t)
	res, err := ambit.Run(context.Background(), &ambit.Command{Argv: []string{"/bin/sh", "-c", "touch f && chmod 600 f"}, Dir: t.TempDir()})
	if ambit.CodeOf(err) == ambit.CodeUnavailable {
		t.Fatal(err)
	}
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("ended with %d: %v", res.ExitCode, err)
	}
	if after := restrictions(t); after != before {
		t.Errorf("this process is restricted: %q, before: %q", after, before)
	}
	if _, err := os.ReadFile("/proc/self/environ"); err != nil {
		t.Error(err)
	}
	if err := exec.Command("/bin/true").Run(); err != nil {
		t.Error(err)
	}
}

// TestLauncherKilled: a program that uses the package is not the process that
// orphans fall to, so nobody knows whether something of the command is left.
// That of one that is there for the run alone is internal/runner's test of the
// same name.
func TestLauncherKilled(t *testing.T) {
	killed := 0
	res, err := ambit.Run(context.Background(), &ambit.Command{
		Argv: []string{"/bin/sleep", "600"}, Dir: t.TempDir(),
		Started: func() {
			for _, pid := range child.Children(os.Getpid()) {
				if args, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); strings.Contains(string(args), child.Arg) &&
					syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed++
				}
			}
		},
	})
	if killed != 1 {
		t.Fatalf("%d launchers killed: %v", killed, err)
	}
	if o := res.Receipt.Outcome; err == nil || err.Error() != "the launcher was killed while the command ran; processes of the command may be left" ||
		o == nil || !o.Lost || !o.Left || ambit.CodeOf(err) != "" || res.ExitCode != 137 {
		t.Errorf("%+v %+v %v", res, o, err)
	}
}

func restrictions(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "Seccomp") || strings.HasPrefix(line, "NoNewPrivs") {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}
