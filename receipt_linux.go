// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"errors"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/launch"
)

// launched records how a launch ended.
func (r *Receipt) launched(res *launch.Result, stdout, stderr *launch.Output) {
	r.Durations.Setup = milliseconds(res.Setup)
	r.Durations.Run = milliseconds(res.Run)
	r.Durations.Sweep = milliseconds(res.Sweep)
	r.Outcome = outcomeOf(res)
	r.Outcome.Stdout, r.Outcome.Stderr = countOf(stdout), countOf(stderr)
}

func countOf(o *launch.Output) *OutputCount {
	if !o.Counted() {
		return nil
	}
	total, discarded := o.Counts()
	return &OutputCount{total, discarded}
}

func outcomeOf(res *launch.Result) *Outcome {
	o := &Outcome{TimedOut: res.TimedOut, CPUExceeded: res.Exceeded, Executed: res.Started, Left: res.Left}
	switch {
	case res.ExecErr != nil:
		o.ExitCode, o.ExecError = execFailure(res)
	case res.Exceeded:
		o.ExitCode = 128 + int(syscall.SIGXCPU) // as where a process alone reaches it
	case res.TimedOut:
		o.ExitCode = ExitTimeout
	case res.Status.Signaled():
		o.Signal = int(res.Status.Signal())
		o.ExitCode = 128 + o.Signal
	default:
		o.ExitCode = res.Status.ExitStatus()
	}
	return o
}

// lost is the outcome of a run whose launcher was killed.
func (o *Outcome) lost() {
	o.Lost, o.Signal, o.ExitCode = true, int(syscall.SIGKILL), 128+int(syscall.SIGKILL)
}

// remains says what is known of the processes of a run that was lost.
func (o *Outcome) remains() string {
	if o.Left {
		return "processes of the command may be left"
	}
	return "nothing of the command is left"
}

// execFailure tells a command that is not there from one that can't be
// executed. ENOENT of a file that exists is about its interpreter or loader
// (execve(2), ERRORS).
func execFailure(res *launch.Result) (int, string) {
	msg := "cannot execute " + res.ExecFile + ": " + res.ExecErr.Error()
	switch {
	case !errors.Is(res.ExecErr, syscall.ENOENT):
	case syscall.Access(res.ExecFile, 0) == nil:
		msg += " (the file is there; its interpreter or loader is not)"
	default:
		return ExitNotFound, msg
	}
	if errors.Is(res.ExecErr, syscall.EACCES) {
		msg += " (it is not executable, or the policy does not let it be read)"
	}
	return ExitNotExecutable, msg
}
