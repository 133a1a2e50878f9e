// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"io"
	"os"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/launch"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// connect opens the command's standard streams, and returns those that it
// inherits as they are.
func (r *runner) connect() ([]*os.File, error) {
	var err error
	if r.stdin, err = r.openStdin(); err != nil {
		return nil, &child.StepError{Step: "stdin", Err: err}
	}
	limit := int64(-1)
	if l := r.resolved.Limits.OutputBytes; l != nil {
		limit = *l
	}
	r.stdout, r.stderr = r.output(r.cmd.Stdout, limit), r.output(r.cmd.Stderr, limit)
	r.stderr.Remember(messagesKept)
	inherited := []*os.File{r.stdin}
	for _, o := range []*launch.Output{r.stdout, r.stderr} {
		if f := o.File(); f != nil {
			inherited = append(inherited, f)
		}
	}
	return inherited, nil
}

// passes reports whether a descriptor may be the command's own. A socket is a
// way out by itself: one that is not connected sends to any address, and a
// TCP one connects by sending (MSG_FASTOPEN, tcp(7)). So without a network
// only connected unix streams pass; what comes and goes by another socket is
// copied through a pipe. The same holds for what can't be examined.
func (r *runner) passes(f *os.File) bool {
	if r.plan.Network == plan.OpenNetwork {
		return true
	}
	kind, err := sys.SocketOf(f)
	return err == nil && (!kind.Socket || kind.Unix && kind.Stream && kind.Connected)
}

func (r *runner) openStdin() (*os.File, error) {
	if f, ok := r.cmd.Stdin.(*os.File); ok && f != nil && r.passes(f) {
		return f, nil
	}
	if r.cmd.Stdin == nil {
		f, err := os.Open(os.DevNull)
		r.files = append(r.files, f)
		return f, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.files = append(r.files, read)
	// The copy ends with its source, or with the command: a write then fails.
	// Nobody waits for it, since a source that blocks must not hold the run.
	go func() {
		_, _ = io.Copy(write, r.cmd.Stdin)
		_ = write.Close()
	}()
	return read, nil
}

// output passes a file on as it is where nothing has to be counted.
func (r *runner) output(w io.Writer, limit int64) *launch.Output {
	if f, ok := w.(*os.File); ok && limit < 0 && r.passes(f) {
		return launch.Direct(f)
	}
	if w == nil {
		w = io.Discard
	}
	return launch.Copied(w, limit)
}
