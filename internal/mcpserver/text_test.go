// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/server"
)

// TestTexts: what a model reads of each kind of result, in whole.
func TestTexts(t *testing.T) {
	many := make([]denial.Denial, mostDenials+3)
	for i := range many {
		many[i] = denial.Denial{Call: "openat", Named: "x", Errno: "EACCES"}
	}
	const empty = "\nstdout (empty)\nstderr (empty)"
	for name, c := range map[string]struct {
		o    outcome
		want string
	}{
		"plain":     {outcome{Stdout: "a\n"}, "exit code 0\nstdout:\na\n\nstderr (empty)"},
		"signal":    {outcome{ExitCode: 137, Signal: 9, Error: "the memory limit was reached"}, "exit code 137: ended by signal 9\nnote: the memory limit was reached" + empty},
		"timed out": {outcome{ExitCode: 124, TimedOut: true, Signal: 9}, "exit code 124: the time was up, and the command was ended" + empty},
		"cancelled": {outcome{ExitCode: 137, Cancelled: true, Code: "CANCELLED", Error: "the request was cancelled"},
			"CANCELLED: the request was cancelled\nThe command was ended before it was done." + empty},
		"denials": {outcome{Denials: []denial.Denial{{Call: "openat", Named: "../q", Object: "/p/q", Errno: "EACCES"}, {Call: "chmod", Named: "a\nb", Errno: "EPERM"}}},
			"exit code 0\nrefused by the sandbox: openat of ../q (/p/q): EACCES\nrefused by the sandbox: chmod of \"a\\nb\": EPERM" + empty},
		"many denials": {outcome{Denials: many, DenialsDropped: 4}, "exit code 0" + strings.Repeat("\nrefused by the sandbox: openat of x: EACCES", mostDenials) + "\nand 7 more refusals" + empty},
		"busy":         {outcome{ExitCode: 125, Code: "BUSY", Error: "too many runs are waiting"}, "BUSY: too many runs are waiting\nThe command was not run." + empty},
		"cut off":      {outcome{Stderr: "ab", StderrTruncated: true, StderrBytes: 9}, "exit code 0\nstdout (empty)\nstderr (cut off: the command wrote 9 bytes):\nab"},
		"bytes": {outcome{Stdout: base64.StdEncoding.EncodeToString([]byte("a\xffb")), StdoutEncoding: base64Encoding},
			"exit code 0\nstdout (not all UTF-8: other bytes stand as \uFFFD here, and the structured result has all of it in base64):\na\uFFFDb\nstderr (empty)"},
	} {
		if got := strings.Join(c.o.texts(), "\n"); got != c.want {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, c.want)
		}
	}
}

// TestResultOf: what is no answer of the service is no result.
func TestResultOf(t *testing.T) {
	for _, status := range []int{200, 503} {
		if r, err := resultOf(&server.Answer{Status: status, Body: []byte("<html>")}); err == nil {
			t.Errorf("%d: %+v", status, r)
		}
	}
	r, err := resultOf(&server.Answer{Status: 503, Body: []byte(`{"code":"SANDBOX_UNAVAILABLE","detail":"no","backend":"landlock"}`)})
	if err != nil || !r.IsError {
		t.Errorf("%+v, %v", r, err)
	}
}
