// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecrets: a secret reaches the command, and nothing else shows it.
func TestSecrets(t *testing.T) {
	for _, source := range []string{"file", "fd", "env", "other env"} {
		t.Run(source, func(t *testing.T) {
			w := newWorld(t)
			value := fmt.Sprintf("s3cr3t-%016x", rand.Uint64())
			w.write("outside/secret", value+"\n")
			spec := map[string]string{
				"file": "TOKEN=file:" + w.at("outside/secret"), "fd": "TOKEN=fd:3", "env": "TOKEN", "other env": "TOKEN=env:SOURCE",
			}[source]
			cmd := w.sandbox(w.policyFlags("--secret", spec, "--json", "--receipt", w.at("receipt")), "/bin/sh", "-c",
				`echo "it is $TOKEN"; echo "it is $TOKEN" >&2; `+self(t)+` op env-hash TOKEN; : > started; cat; exit 4`)
			switch source {
			case "env":
				cmd.Env = append(cmd.Env, "TOKEN="+value)
			case "other env":
				cmd.Env = append(cmd.Env, "SOURCE="+value, "TOKEN=not-this")
			case "fd":
				f, err := os.Open(w.at("outside/secret"))
				w.must(err)
				defer func() { _ = f.Close() }()
				cmd.ExtraFiles = []*os.File{f}
			}
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			in, err := cmd.StdinPipe()
			w.must(err)
			start(t, cmd)
			eventually(t, "the command runs", func() bool { return fileExists(w.at("work/started")) })
			launcher := w.launcherOf(cmd.Process.Pid)
			w.shown(value, "/proc/[0-9]*/cmdline", "/proc/"+fmt.Sprint(launcher)+"/environ")
			if strings.HasPrefix(source, "f") {
				w.shown(value, "/proc/"+fmt.Sprint(cmd.Process.Pid)+"/environ")
			}
			w.must(in.Close())
			if ws := waitFor(t, cmd); ws.ExitStatus() != 4 {
				t.Errorf("ended with %v, want 4\n%s", ws, stderr.String())
			}
			ans := decode[answer](t, stdout.String())
			if want := fmt.Sprintf("%x", sha256.Sum256([]byte(value))); !strings.Contains(ans.Stdout, want) {
				t.Errorf("the command did not get the value: %s", ans.Stdout)
			}
			for _, s := range []string{ans.Stdout, ans.Stderr} {
				if !strings.Contains(s, "it is [secret TOKEN]") {
					t.Errorf("what the command printed was not redacted: %q", s)
				}
			}
			w.shown(value, w.at("receipt"))
			if strings.Contains(stdout.String()+stderr.String(), value) {
				t.Errorf("the answer shows the value:\n%s\n%s", stdout.String(), stderr.String())
			}
		})
	}
}

// shown fails if a file of that pattern holds the value.
func (w *world) shown(value string, patterns ...string) {
	w.Helper()
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		w.must(err)
		if len(names) == 0 {
			w.Errorf("there is no %s to look at", pattern)
		}
		for _, name := range names {
			if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(value)) {
				w.Errorf("%s shows the secret", name)
			}
		}
	}
}

// TestSecretErrors: a source that can't be used stops the run, and no error
// repeats what may be the value.
func TestSecretErrors(t *testing.T) {
	w := newWorld(t)
	const value = "s3cr3t-in-the-wrong-place"
	w.write("outside/empty", "")
	w.write("outside/newline", "\n")
	w.write("outside/nul", value+"\x00")
	w.write("outside/huge", strings.Repeat(value, 10000))
	for _, source := range []string{
		"file:" + w.at("outside/missing"), "file:" + w.at("outside/empty"), "file:" + w.at("outside/newline"), "file:" + w.at("outside/nul"),
		"file:" + w.at("outside/huge"), "file:" + w.at("outside"), "fd:9", "env:NOT_SET", value, "file:", "fd:x" + value, "fd:0",
	} {
		cmd := w.sandbox(w.policyFlags("--secret", "TOKEN="+source), "/bin/sh", "-c", ": > ran")
		r := finish(t, cmd)
		w.ranNothing(cmd, r)
		if strings.Contains(r.stdout+r.stderr, value) {
			t.Errorf("%.30s: the error repeats the value: %s", source, r.stderr)
		}
		if !strings.Contains(r.stderr, "TOKEN") && !strings.Contains(r.stderr, "secret") {
			t.Errorf("%.30s: the error names neither the secret nor the flag: %s", source, r.stderr)
		}
	}
}

// TestSecretInError: where the command's name holds the value, the error that
// it can't be found does not.
func TestSecretInError(t *testing.T) {
	w := newWorld(t)
	const value = "s3cr3t-command"
	for _, flags := range [][]string{nil, {"--json"}} {
		cmd := w.sandbox(w.policyFlags(append(flags, "--secret", "TOKEN=env:SOURCE")...), value)
		cmd.Env = append(cmd.Env, "SOURCE="+value)
		r := finish(t, cmd)
		if r.code != 127 || strings.Contains(r.stdout+r.stderr, value) || !strings.Contains(r.stdout+r.stderr, "[secret TOKEN]") {
			t.Errorf("%v: ended with %d\n%s\n%s", flags, r.code, r.stdout, r.stderr)
		}
	}
}
