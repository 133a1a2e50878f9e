// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxReport bounds what is read of a report.
const maxReport = 4 << 20

// proofTime bounds the command that sees whether it is confined.
const proofTime = 60 * time.Second

// Probe runs a command in a sandbox in the very way in which requests are run.
// If it does not do what it should, the supervisor's own program (ambit doctor)
// looks at the host for the reason: that takes ten times as long.
func (r *Runner) Probe(ctx context.Context) (*ambit.Host, error) {
	h, err := r.prove(ctx)
	if err != nil || h.Works {
		return h, err
	}
	full, err := r.doctor(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil: // what is known is known
		return h, nil
	case full.Works:
		full.Works, full.Reason = false, h.Reason
	}
	return full, nil
}

// prove says what the command has shown.
func (r *Runner) prove(ctx context.Context) (*ambit.Host, error) {
	bounded, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	var out bytes.Buffer
	proof := ambit.Proof(r.program.name)
	res, err := r.Run(bounded, &Request{Argv: proof.Argv, Layers: proof.Layers, Dir: filepath.Dir(r.program.name),
		Environ: probeEnviron(), Stdout: &out, Stderr: &out})
	h := &ambit.Host{Backend: res.Receipt.Backend, Kernel: res.Receipt.Kernel, LandlockABI: res.Receipt.LandlockABI, Coverage: res.Receipt.Coverage}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		h.Reason = err.Error()
	case res.ExitCode != 0:
		h.Reason = "a sandboxed command did not do what it should: " + out.String()
		if o := res.Receipt.Outcome; o != nil {
			h.Reason += o.ExecError
		}
	default:
		h.Works, h.Reason = true, "it enforces every item of the default policy, and a command ran in it"
	}
	return h, nil
}

// doctor has the program look at the host.
func (r *Runner) doctor(ctx context.Context) (*ambit.Host, error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	// A report that is not read to its end must not hold anybody up.
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
		return nil, os.NewSyscallError("fcntl(F_SETFL)", err)
	}
	from := os.NewFile(uintptr(fds[0]), "report")
	defer func() { _ = from.Close() }()
	pid, err := r.program.exec([]string{"ambit", "doctor", "--json"}, probeEnviron(), r.program.null, fds[1], r.program.null)
	_ = syscall.Close(fds[1])
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = from.Close() })
	b, err := io.ReadAll(io.LimitReader(from, maxReport))
	stop()
	_ = sys.Kill(pid, syscall.SIGKILL) // it has said all, or will not be heard
	r.program.children.wait(pid)
	r.program.children.sweep(abortTime) // what it was trying
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	h := &ambit.Host{}
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(b)).Decode(h)
	}
	if err != nil || h.Kernel == "" {
		return nil, fmt.Errorf("cannot read what the supervisor's program says of this host: %w", errors.Join(err, errReport))
	}
	return h, nil
}

var errReport = errors.New("it is no report")

// probeEnviron is what a look at the host needs of the environment.
func probeEnviron() []string {
	kept := []string{}
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "HOME", "PATH", "TMPDIR", "XDG_STATE_HOME":
			kept = append(kept, kv)
		}
	}
	return kept
}
