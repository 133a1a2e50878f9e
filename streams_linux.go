// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"io"
	"os"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/launch"
)

// streams connects the command's standard input and outputs.
func (r *runner) streams(req *launch.Request) error {
	var err error
	if req.Stdin, err = r.stdin(); err != nil {
		return setupError(r.choice.Backend.Name(), &child.StepError{Step: "stdin", Err: err})
	}
	limit := int64(-1)
	if l := r.resolved.Limits.OutputBytes; l != nil {
		limit = *l
	}
	req.Stdout, req.Stderr = output(r.cmd.Stdout, limit), output(r.cmd.Stderr, limit)
	return nil
}

func (r *runner) stdin() (*os.File, error) {
	if f, ok := r.cmd.Stdin.(*os.File); ok && f != nil {
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
func output(w io.Writer, limit int64) *launch.Output {
	if f, ok := w.(*os.File); ok && limit < 0 {
		return launch.Direct(f)
	}
	if w == nil {
		w = io.Discard
	}
	return launch.Copied(w, limit)
}
