// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

// inferences are commands that fail by what Landlock refuses, and what is
// inferred from their messages.
var inferences = map[string]struct {
	script string // with TOP for the world
	path   string // below TOP
	access denial.Access
	flag   string // with TOP; empty: the grant is none, and says why
	keep   string
}{
	"a file":             {"cat TOP/outside/x", "outside/x", denial.Read, "--read TOP/outside/x", ""},
	"a relative name":    {"cat ../outside/x", "outside/x", denial.Read, "--read TOP/outside/x", ""},
	"an odd name":        {`cat "TOP/outside/a b: c"`, "outside/a b: c", denial.Read, "--read 'TOP/outside/a b: c'", ""},
	"through a link":     {"cat ./link", "outside/x", denial.Read, "--read TOP/outside/x", ""},
	"a directory":        {"ls TOP/outside", "outside", denial.Read, "--read TOP/outside", ""},
	"a program":          {"TOP/outside/tool", "outside/tool", denial.Read, "--read TOP/outside/tool", ""},
	"the home":           {"ls TOP/home", "home", denial.Read, "", "would open the home"},
	"writing":            {"echo more >> TOP/outside/x", "outside/x", denial.Write, "--write TOP/outside/x", ""},
	"writing what reads": {"echo more >> TOP/read/x", "read/x", denial.Write, "--write TOP/read/x", ""},
	"only readable":      {"bash -c 'echo more >> TOP/read/x'", "read/x", denial.Write, "--write TOP/read/x", ""},
	"removing":           {"rm -f TOP/outside/x", "outside/x", denial.Write, "--write TOP/outside", "a name is removed"},
}

// TestInferred: what Landlock refuses is told from the command's own message,
// as inferred, with a grant that works.
func TestInferred(t *testing.T) {
	for name, c := range inferences {
		t.Run(name, func(t *testing.T) {
			w := inferredWorld(t)
			names := strings.NewReplacer("TOP", w.dir)
			script, flag := names.Replace(c.script), names.Replace(c.flag)
			r := w.inferredBy(script)
			if r.ExitCode == 0 || len(r.Inferred) != 1 || len(r.Receipt.Inferred) != 1 || len(r.Receipt.Denials) != 0 {
				t.Fatalf("%+v", r)
			}
			i := r.Inferred[0]
			if i.Path != w.at(c.path) || i.Access != c.access || i.Grant == nil || i.Grant.Flag != flag || !strings.Contains(i.Grant.Keep, c.keep) {
				t.Fatalf("%+v, %+v", i, i.Grant)
			}
			if flag == "" {
				return
			}
			if w.inferredBy(script, "--read", w.at("read")).ExitCode == 0 {
				t.Error("it succeeds without the grant")
			}
			// As a user takes it: copied into a shell.
			line := exec.Command("bash", "-c", `exec "$0" run --extends system --read "$2" `+flag+` -- /bin/sh -c "$1"`, os.Getenv("AMBIT_BIN"), script, w.at("read"))
			line.Dir, line.Env = w.at("work"), w.environ()
			succeed(t, line)
		})
	}
}

// inferredWorld has something in each place.
func inferredWorld(t *testing.T) *world {
	w := newWorld(t)
	for _, name := range []string{"outside/x", "outside/a b: c", "outside/y", "outside/z", "outside/shut", "read/x", "outside/tool"} {
		w.write(name, "#!/bin/sh\n")
	}
	w.write("work/open", "text")
	w.must(os.Mkdir(w.at("home/.cache"), 0o755))
	w.must(os.Chmod(w.at("outside/shut"), 0))
	w.must(os.Chmod(w.at("outside/tool"), 0o755))
	w.must(os.Symlink(w.at("outside/x"), w.at("work/link")))
	return w
}

// failed is what --json prints, as far as it tells of a failure.
type failed struct {
	ExitCode int `json:"exit_code"`
	Stderr   string
	Inferred []denial.Inferred
	Receipt  struct {
		Inferred []denial.Inferred
		Denials  []denial.Denial
	}
}

// inferredBy runs a script where no place is nested, so that the kernel alone
// refuses files.
func (w *world) inferredBy(script string, flags ...string) failed {
	w.Helper()
	flags = append([]string{"--json", "--extends", "system", "--read", w.at("read")}, flags...)
	return decode[failed](w, finish(w, w.sandbox(flags, "/bin/sh", "-c", script)).stdout)
}

// TestNotInferred: a message proves nothing by itself.
func TestNotInferred(t *testing.T) {
	w := inferredWorld(t)
	names := strings.NewReplacer("TOP", w.dir, "SAY", `echo "cat: `, "REFUSED", `: Permission denied" >&2`)
	for _, name := range []string{"outside/x", "home/x"} {
		if r := w.inferredBy(names.Replace("SAY TOP/"+name+"REFUSED; exit 3"), "--write", w.at("work")); r.ExitCode != 3 || len(r.Inferred) != 1 {
			t.Errorf("the control: %+v", r)
		}
	}
	for name, c := range map[string]struct {
		script string
		code   int
	}{
		"the command succeeds":       {"cat TOP/outside/x; exit 0", 0},
		"an open file":               {"SAY TOP/work/openREFUSED; cat TOP/work/open >&2; exit 3", 3},
		"reading an open file":       {`echo "cannot open 'TOP/read/x' for reading: Permission denied" >&2; exit 3`, 3},
		"no refusal":                 {`cat TOP/outside/x 2> /dev/null; echo "TOP/outside/x" >&2; exit 3`, 3},
		"another error":              {`echo "cat: TOP/outside/x: Input/output error" >&2; exit 3`, 3},
		"closed by the system too":   {"cat TOP/outside/shut; exit 3", 3},
		"a relative name of nothing": {"SAY ../outside/missingREFUSED; exit 3", 3},
		"a process's own":            {"SAY /proc/1/environREFUSED; exit 3", 3},
		"ended by a signal":          {"cat TOP/outside/x; kill -9 $$", 137},
		"a message long before":      {"cat TOP/outside/x; head -c 20000 /dev/zero | tr '\\0' '\\n' >&2; exit 3", 3},
		"a cache":                    {"SAY TOP/home/.cache/xREFUSED; exit 3", 3},
	} {
		if r := w.inferredBy(names.Replace(c.script), "--write", w.at("work")); r.ExitCode != c.code || len(r.Inferred) != 0 || len(r.Receipt.Inferred) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestInferredBounded: a command that names many gets three.
func TestInferredBounded(t *testing.T) {
	w := inferredWorld(t)
	r := w.inferredBy("cd " + w.at("outside") + "; cat x y z tool ./x")
	if r.ExitCode == 0 || len(r.Inferred) != 0 {
		t.Errorf("names in another directory: %+v", r)
	}
	all := ""
	for _, name := range []string{"x", "x", "y", "z", "tool"} {
		all += " " + w.at("outside/"+name)
	}
	if r := w.inferredBy("cat" + all); len(r.Inferred) != 3 || r.Inferred[0].Path != w.at("outside/tool") {
		t.Errorf("%+v", r.Inferred)
	}
}

// TestInferredSecret: a name that holds a secret is not told, and no grant
// names it.
func TestInferredSecret(t *testing.T) {
	w := inferredWorld(t)
	const value = "correct-horse-battery"
	w.write("outside/"+value, "text")
	file := w.write("token", value)
	w.must(os.Chmod(file, 0o600))
	r := w.inferredBy("cat "+w.at("outside/$TOKEN"), "--secret", "TOKEN=file:"+file)
	if len(r.Inferred) != 1 || r.Inferred[0].Path != w.at("outside/[secret TOKEN]") || r.Inferred[0].Named != r.Inferred[0].Path || r.Inferred[0].Grant != nil {
		t.Errorf("%+v", r)
	}
}

// TestRecordedNotInferred: what is on record needs no guess.
func TestRecordedNotInferred(t *testing.T) {
	w := inferredWorld(t)
	if !w.records() {
		t.Skip("this kernel has no broker, so nothing is recorded (Linux 5.19)")
	}
	script := "cat " + w.at("outside/x") + "; echo x > " + w.at("outside/x")
	r := decode[failed](w, finish(w, w.sandbox(w.policyFlags("--json"), "/bin/sh", "-c", script)).stdout)
	if r.ExitCode == 0 || len(r.Receipt.Denials) != 1 || len(r.Inferred) != 0 {
		t.Errorf("%+v", r)
	}
	r = decode[failed](w, finish(w, w.sandbox(w.policyFlags("--json"), "/bin/sh", "-c", "cat "+w.at("outside/x"))).stdout)
	if r.ExitCode == 0 || len(r.Receipt.Denials) != 0 || len(r.Inferred) != 1 {
		t.Errorf("the control: %+v", r)
	}
}

// TestInferredLine: one line says it where stderr passes through the
// supervisor; elsewhere it is not known.
func TestInferredLine(t *testing.T) {
	w := inferredWorld(t)
	x := w.at("outside/x")
	line := `ambit: its message names "` + x + `", which the policy closes for reading (no rule grants it); --read ` + x + " would open it (inferred, not recorded)\n"
	if r := finish(t, w.sandbox([]string{"--extends", "system", "--output-limit", "100000"}, "cat", x)); r.code == 0 || r.stderr != "cat: "+x+": Permission denied\n"+line {
		t.Errorf("%+v", r)
	}
	// The stream is a file, so nobody copies it.
	f, err := os.Create(w.at("outside/stderr"))
	w.must(err)
	defer func() { _ = f.Close() }()
	cmd := w.sandbox([]string{"--extends", "system"}, "cat", x)
	cmd.Stderr = f
	finish(t, cmd)
	b, err := os.ReadFile(f.Name())
	w.must(err)
	if text := string(b); strings.Contains(text, "inferred") || strings.Count(text, "leaves no record") != 1 {
		t.Errorf("%q", text)
	}
}
