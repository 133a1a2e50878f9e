// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit"
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
