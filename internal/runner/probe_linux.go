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

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxReport bounds what is read of a report.
const maxReport = 4 << 20

// Probe looks at the host by the supervisor's own program (ambit doctor), and
// runs a command in a sandbox in the very way in which requests are run.
func (r *Runner) Probe(ctx context.Context) (*ambit.Host, error) {
	h, err := r.doctor(ctx)
	if err != nil || !h.Works {
		return h, err
	}
	var out bytes.Buffer
	proof := ambit.Proof(r.program.name)
	res, err := r.Run(ctx, &Request{Argv: proof.Argv, Layers: proof.Layers, Dir: filepath.Dir(r.program.name),
		Environ: probeEnviron(), Stdout: &out, Stderr: &out})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		h.Works, h.Reason = false, err.Error()
	case res.ExitCode != 0:
		h.Works, h.Reason = false, "a sandboxed command did not do what it should: "+out.String()+res.Receipt.Outcome.ExecError
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
	sys.WaitFor(pid)
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
