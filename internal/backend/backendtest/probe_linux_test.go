// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// The probe is this binary in the part of the sandboxed command. It makes the
// calls that it is told to and prints one line for each: the errno's name or
// OK, and what the call returned.
//
//	backendtest.test op NAME ARG... [:: NAME ARG...]...
const (
	probeArg  = "op"
	probeNext = "::"
)

// operation is one thing that the probe does. A bare system call needs none:
// see callNumber.
type operation func(args []string) (string, error)

func operations() map[string]operation {
	all := map[string]operation{}
	for _, some := range []map[string]operation{
		fileOperations(), processOperations(), childOperations(), socketOperations(), outerOperations(), foreignOperations(), withinOperations(), stormOperations(), swingOperations(),
	} {
		maps.Copy(all, some)
	}
	return all
}

func probeMain(args []string) int {
	// Some operations concern the thread: they must all meet the same one.
	runtime.LockOSThread()
	table := operations()
	if do, ok := setupOperations()[args[0]]; ok {
		return report(do(args[1:])) // all the rest is its program's
	}
	for len(args) > 0 {
		one := args
		args = nil
		for i, a := range one {
			if a == probeNext {
				one, args = one[:i], one[i+1:]
				break
			}
		}
		if say(operate(table, one[0], one[1:])) != nil {
			return 3
		}
	}
	return 0
}

// report prints an operation that should not have returned.
func report(detail string, err error) int {
	fmt.Fprintln(os.Stderr, "cannot arrange the test:", detail, err)
	return 4
}

// say prints an operation's line; not by package os, which would prepare the
// descriptor first.
func say(detail string, err error) error {
	_, err = syscall.Write(1, fmt.Appendf(nil, "=%s %s\n", outcome(err), strconv.Quote(detail)))
	return err
}

func operate(table map[string]operation, name string, args []string) (string, error) {
	if do, ok := table[name]; ok {
		return do(args)
	}
	return callNumber(name, args)
}

// outcome names an error as the tables of the tests do.
func outcome(err error) string {
	if err == nil {
		return "OK"
	}
	if name := sys.ErrnoName(err); name != "" {
		return name
	}
	return strings.ReplaceAll(err.Error(), " ", "_")
}

// reply is one line of the probe.
type reply struct{ outcome, detail string }

// probeArgs is the command line of a probe.
func probeArgs(t testing.TB, ops [][]string) []string {
	t.Helper()
	args := []string{self(t), probeArg}
	for i, op := range ops {
		if i > 0 {
			args = append(args, probeNext)
		}
		args = append(args, op...)
	}
	return args
}

// replies reads what a probe printed: a line for each operation.
func replies(t testing.TB, r result, want int) []reply {
	t.Helper()
	var out []reply
	for _, line := range strings.Split(r.stdout, "\n") {
		name, quoted, ok := strings.Cut(strings.TrimPrefix(line, "="), " ")
		if !ok || !strings.HasPrefix(line, "=") {
			continue
		}
		detail, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("cannot read the probe's line %q: %v", line, err)
		}
		out = append(out, reply{name, detail})
	}
	if r.code != 0 || len(out) != want {
		t.Fatalf("the probe ended with %d after %d of %d operations\nstdout: %s\nstderr: %s", r.code, len(out), want, clip(r.stdout), clip(r.stderr))
	}
	return out
}

// inside has the sandboxed probe do the operations, in one run.
func (w *world) inside(flags []string, ops ...[]string) []reply {
	w.Helper()
	return replies(w, finish(w, w.sandbox(flags, probeArgs(w, ops)...)), len(ops))
}

// unconfined has the probe do them without a sandbox: the control that says
// what the kernel and the file modes alone answer.
func (w *world) unconfined(ops ...[]string) []reply {
	w.Helper()
	args := probeArgs(w, ops)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = w.at("work"), w.environ()
	return replies(w, finish(w, cmd), len(ops))
}

// words splits an operation that is written as one string, and puts dir in
// for a leading "%" of its words ("'%" stays a string argument).
func words(text, dir string) []string {
	out := strings.Fields(text)
	for i, word := range out {
		for _, prefix := range []string{"%", "'%", "<%", "=%", "+%"} {
			if rest, ok := strings.CutPrefix(word, prefix); ok {
				out[i] = prefix[:len(prefix)-1] + dir + "/" + rest
			}
		}
	}
	return out
}

// fileExists reports whether there is anything under a name.
func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
