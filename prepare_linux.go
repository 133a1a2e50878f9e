// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Prepared is a run that waits for its command: the host is known, and the
// launcher started. Its process is there for this run alone, as with
// [Command.Exclusive] and [Command.Dedicated], whatever a command says.
type Prepared struct{ r *runner }

// Prepare does what of a run can be done before its command is known.
// [Prepared.Run] or [Prepared.Close] must follow.
func Prepare() (*Prepared, error) {
	r := &runner{cmd: &Command{Exclusive: true, Dedicated: true}, receipt: newReceipt()}
	if err := r.startLauncher(); err != nil {
		r.close()
		return nil, setupError("landlock", err)
	}
	return &Prepared{r}, nil
}

// errUsed is a second run of what was prepared once.
var errUsed = errors.New("cannot run a second command in what was prepared for one")

// Run is [Run] for a command of which the start is done already.
func (p *Prepared) Run(ctx context.Context, c *Command) (*Result, error) {
	r := p.r
	if p.r = nil; r == nil {
		return &Result{ExitCode: ExitUnavailable, Receipt: newReceipt()}, errUsed
	}
	defer r.close()
	own := *c
	own.Exclusive, own.Dedicated = true, true
	r.cmd, r.receipt.Started = &own, time.Now()
	err := r.run(ctx)
	return r.result(err)
}

// Launcher returns a pidfd of the launcher. When it becomes readable, the
// launcher has ended, and before that all that the command left.
func (p *Prepared) Launcher() (*os.File, error) {
	if p.r == nil {
		return nil, errUsed
	}
	return sys.PidFile(p.r.launcher.PID())
}

// Close ends what was prepared, if it has not run.
func (p *Prepared) Close() {
	if p != nil && p.r != nil {
		p.r.close()
		p.r = nil
	}
}
