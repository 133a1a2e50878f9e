// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// noise is n bytes that hold every value, NUL and newlines too.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// TestStdin: input comes through as it is, by a file, a pipe, or nothing.
func TestStdin(t *testing.T) {
	w := newWorld(t)
	data := noise(10 << 20)
	want := fmt.Sprintf("%d %x", len(data), sha256.Sum256(data))
	w.must(os.WriteFile(w.at("outside/input"), data, 0o600))
	for _, flags := range [][]string{nil, {"--json"}} {
		for _, how := range []string{"pipe", "file", "nothing"} {
			cmd := w.sandbox(w.policyFlags(flags...), self(t), probeArg, "digest")
			expected := want
			switch how {
			case "pipe":
				cmd.Stdin = bytes.NewReader(data)
			case "file":
				f, err := os.Open(w.at("outside/input"))
				w.must(err)
				defer func() { _ = f.Close() }()
				cmd.Stdin = f
			case "nothing":
				expected = fmt.Sprintf("0 %x", sha256.Sum256(nil))
			}
			r := succeed(t, cmd)
			if flags != nil {
				r.stdout = decode[answer](t, r.stdout).Stdout
			}
			if got := replies(t, r, 1)[0]; got.detail != expected {
				t.Errorf("%s %v: %s, want %s", how, flags, got.detail, expected)
			}
		}
	}
	// A command that does not read must not be held by an input that never ends.
	cmd := w.sandbox(nil, "/bin/true")
	in, err := cmd.StdinPipe()
	w.must(err)
	defer func() { _ = in.Close() }()
	if r := finish(t, cmd); r.code != 0 || r.took > patience(10*time.Second) {
		t.Errorf("with an open input: ended with %d after %v", r.code, r.took)
	}
}

// counter counts and digests what is written to it.
type counter struct {
	n   int64
	sum hash.Hash
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return c.sum.Write(b)
}

// TestStdout: all of a large output comes through, in order.
func TestStdout(t *testing.T) {
	w := newWorld(t)
	size := 200 << 20
	if slow() {
		size = 20 << 20
	}
	data := noise(1 << 20)
	w.must(os.WriteFile(w.at("work/data"), data, 0o600))
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do cat data; i=$((i+1)); done", size>>20)
	cmd := w.sandbox(nil, "/bin/sh", "-c", script)
	c := &counter{sum: sha256.New()}
	cmd.Stdout = c
	succeed(t, cmd)
	want := sha256.New()
	for range size >> 20 {
		_, _ = want.Write(data)
	}
	if c.n != int64(size) || !bytes.Equal(c.sum.Sum(nil), want.Sum(nil)) {
		t.Errorf("%d bytes came, want %d; the same: %v", c.n, size, bytes.Equal(c.sum.Sum(nil), want.Sum(nil)))
	}
}

// TestSlowReader: what a command left behind in the pipes comes through also
// where nobody reads it until long after the command's end.
func TestSlowReader(t *testing.T) {
	w := newWorld(t)
	const size = 130000 // more than ambit's own pipe holds, and less than both, so that the command can end
	cmd := w.sandbox([]string{"--output-limit", "1G"}, "/bin/sh", "-c", fmt.Sprintf("head -c %d /dev/zero; : > ended", size))
	out, in, err := os.Pipe()
	w.must(err)
	defer func() { _ = out.Close() }()
	cmd.Stdout = in
	start(t, cmd)
	w.must(in.Close())
	eventually(t, "the command has ended", func() bool { return fileExists(w.at("work/ended")) })
	time.Sleep(pause(3 * time.Second)) // what else there is to wait for is waited for by then
	n, err := io.Copy(io.Discard, out)
	w.must(err)
	if ws := waitFor(t, cmd); n != size || ws.ExitStatus() != 0 {
		t.Errorf("%d bytes came, want %d; ended with %v", n, size, ws)
	}
}

// TestOutputLimit: what is beyond the limit is counted and discarded, to the
// byte and for each stream alone, and the command runs on.
func TestOutputLimit(t *testing.T) {
	w := newWorld(t)
	const script = "head -c 70001 /dev/zero | tr '\\0' o; head -c 70002 /dev/zero | tr '\\0' e >&2; : > after"
	for _, limit := range []int{1, 4096, 65536, 70000, 70001, 70002, 100000} {
		cmd := w.sandbox([]string{"--json", "--output-limit", fmt.Sprint(limit)}, "/bin/sh", "-c", script)
		ans := decode[answer](t, succeed(t, cmd).stdout)
		out, err := min(limit, 70001), min(limit, 70002)
		if ans.Stdout != strings.Repeat("o", out) || ans.Stderr != strings.Repeat("e", err) {
			t.Errorf("limit %d: %d and %d bytes, want %d and %d", limit, len(ans.Stdout), len(ans.Stderr), out, err)
		}
		if ans.Truncated != (limit < 70002) {
			t.Errorf("limit %d: truncated %v", limit, ans.Truncated)
		}
		o := ans.Receipt.Outcome
		if o.Stdout.Bytes != 70001 || o.Stderr.Bytes != 70002 || o.Stdout.Discarded != int64(70001-out) || o.Stderr.Discarded != int64(70002-err) {
			t.Errorf("limit %d: counted %+v and %+v", limit, *o.Stdout, *o.Stderr)
		}
		if os.Remove(w.at("work/after")) != nil {
			t.Errorf("limit %d: the command did not run to its end", limit)
		}
	}
	r := succeed(t, w.sandbox([]string{"--output-limit", "1000"}, "/bin/sh", "-c", script))
	if r.stdout != strings.Repeat("o", 1000) || !strings.HasPrefix(r.stderr, strings.Repeat("e", 1000)+"ambit:") ||
		!strings.Contains(r.stderr, "69001 of 70001 bytes of stdout") {
		t.Errorf("without --json: %d bytes of stdout, stderr ends in %q", len(r.stdout), r.stderr[min(len(r.stderr), 1000):])
	}
}

// TestAnswerLost: where the answer can't be printed, the exit code is not the
// one that says that nothing ran.
func TestAnswerLost(t *testing.T) {
	w := newWorld(t)
	for script, want := range map[string]int{": > ran; exit 0": 1, ": > ran; exit 9": 9} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		w.must(err)
		defer func() { _ = full.Close() }()
		cmd := w.sandbox([]string{"--json"}, "/bin/sh", "-c", script)
		cmd.Stdout = full
		if r := finish(t, cmd); r.code != want || !strings.Contains(r.stderr, "cannot print the answer") {
			t.Errorf("%s: ended with %d, want %d, and said %q", script, r.code, want, r.stderr)
		}
		w.must(os.Remove(w.at("work/ran")))
	}
}

// TestBinaryOutput: --json says how it wrote what is not text.
func TestBinaryOutput(t *testing.T) {
	w := newWorld(t)
	cmd := w.sandbox([]string{"--json"}, "/bin/sh", "-c", `printf '\377\000\n'; printf 'text\303\244' >&2`)
	ans := decode[struct {
		Stdout, Stderr string
		StdoutEncoding string `json:"stdout_encoding"`
		StderrEncoding string `json:"stderr_encoding"`
	}](t, succeed(t, cmd).stdout)
	if ans.Stdout != "/wAK" || ans.StdoutEncoding != "base64" || ans.Stderr != "textä" || ans.StderrEncoding != "utf-8" {
		t.Errorf("%+v", ans)
	}
}

// TestClosedStreams: ambit with a closed standard descriptor runs all the
// same, and nothing of its own gets under that number.
func TestClosedStreams(t *testing.T) {
	w := newWorld(t)
	for _, c := range []string{"<&-", ">&-", "2>&-", "<&- >&- 2>&-"} {
		cmd := w.sandbox(nil, "/bin/sh", "-c", "for n in 0 1 2; do readlink /proc/self/fd/$n; done > seen; echo out; echo err >&2; cat; exit 9")
		cmd = throughShell(cmd, `exec "$0" "$@" `+c)
		if r := finish(t, cmd); r.code != 9 {
			t.Errorf("%s: ended with %d, want 9\n%s", c, r.code, r.stderr)
		}
		b, err := os.ReadFile(w.at("work/seen"))
		w.must(err)
		for _, line := range strings.Fields(string(b)) {
			if line != "/dev/null" && !strings.HasPrefix(line, "pipe:") && line != w.at("work/seen") {
				t.Errorf("%s: the command got %q", c, line)
			}
		}
	}
}

// throughShell has a shell execute the command, after what the script does to
// itself.
func throughShell(cmd *exec.Cmd, script string) *exec.Cmd {
	sh := exec.Command("/bin/sh", slices.Concat([]string{"-c", script, cmd.Path}, cmd.Args[1:])...)
	sh.Dir, sh.Env, sh.Stdin = cmd.Dir, cmd.Env, cmd.Stdin
	return sh
}

// TestBrokenPipe: a reader that goes away ends the command by SIGPIPE, as it
// would without ambit.
func TestBrokenPipe(t *testing.T) {
	w := newWorld(t)
	for _, flags := range [][]string{nil, {"--output-limit", "1G"}} {
		cmd := w.sandbox(flags, "/bin/sh", "-c", "exec head -c 100000000 /dev/zero")
		r, out, err := os.Pipe()
		w.must(err)
		cmd.Stdout = out
		start(t, cmd)
		w.must(out.Close())
		_, err = r.Read(make([]byte, 1))
		w.must(err)
		w.must(r.Close())
		if ws := waitFor(t, cmd); ws.ExitStatus() != 128+int(syscall.SIGPIPE) {
			t.Errorf("%v: ended with %v, want status 141", flags, ws)
		}
	}
}

// TestInherited: the command holds stdin, stdout and stderr, whatever ambit
// was called with.
func TestInherited(t *testing.T) {
	w := newWorld(t)
	cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{{"descriptors"}})...)
	for i := range 18 {
		f, err := os.OpenFile(w.write(fmt.Sprintf("outside/%d", i), "content"), os.O_RDWR, 0)
		w.must(err)
		defer func() { _ = f.Close() }()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f) // 3 and up, not closed by exec
	}
	r := replies(t, finish(t, cmd), 1)[0]
	if r.detail != "0 1 2" {
		t.Errorf("the command holds the descriptors %s", r.detail)
	}
	free := exec.Command(self(t), probeArg, "descriptors")
	free.ExtraFiles = cmd.ExtraFiles
	if r := replies(t, finish(t, free), 1)[0]; !strings.HasPrefix(r.detail, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20") {
		t.Errorf("without a sandbox it holds %s: nothing is proven", r.detail)
	}
}
