// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// conversation is a sandboxed probe that gets its operations one by one, for
// tests that do something outside in between.
type conversation struct {
	w   *world
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// converse starts one; the test's end ends it.
func (w *world) converse(flags []string) *conversation {
	w.Helper()
	return w.converseWith(w.sandbox(flags, self(w), probeArg, "converse"))
}

func (w *world) converseWith(cmd *exec.Cmd) *conversation {
	w.Helper()
	in, err := cmd.StdinPipe()
	w.must(err)
	out, err := cmd.StdoutPipe()
	w.must(err)
	cmd.Stderr = os.Stderr
	start(w, cmd)
	return &conversation{w, cmd, in, bufio.NewReader(out)}
}

// end ends the probe, and with it the run.
func (c *conversation) end() { _ = c.in.Close() }

// ask has the probe do an operation, written as for [words].
func (c *conversation) ask(op string) reply {
	c.w.Helper()
	return c.askWords(words(op, c.w.dir))
}

func (c *conversation) askWords(op []string) reply {
	c.w.Helper()
	timer := time.AfterFunc(patience(30*time.Second), func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	var quoted []string
	for _, word := range op {
		quoted = append(quoted, strconv.Quote(word))
	}
	if _, err := io.WriteString(c.in, strings.Join(quoted, " ")+"\n"); err != nil {
		c.w.Fatalf("the probe does not listen any more: %v", err)
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.w.Fatalf("the probe did not answer %q: %v", op, err)
	}
	return replies(c.w, result{stdout: line}, 1)[0]
}

// expect asks, and compares; a detail of "" is not looked at.
func (c *conversation) expect(op, outcome, detail string) {
	c.w.Helper()
	if r := c.ask(op); r.outcome != outcome || detail != "" && r.detail != detail {
		c.w.Errorf("%s: %s (%s), want %s %s", op, r.outcome, r.detail, outcome, detail)
	}
}

// listen is the probe's side: an operation a line on stdin, until its end.
func listen([]string) (string, error) {
	table := operations()
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "", nil
		}
		var op []string
		for rest := strings.TrimSpace(line); rest != ""; {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return "", err
			}
			word, _ := strconv.Unquote(quoted)
			op, rest = append(op, word), strings.TrimSpace(rest[len(quoted):])
		}
		if err := say(operate(table, op[0], op[1:])); err != nil {
			return "", err
		}
	}
}
