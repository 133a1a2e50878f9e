// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/backend/all"
	"github.com/ambit-sandbox/ambit/internal/cgroup"
	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/launch"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/stock"
	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// Dispatch runs the launcher, or a probe's child, if args (os.Args) ask for
// it, and then does not return. It must be the first thing that main does.
func Dispatch(args []string) {
	if len(args) < 2 {
		return
	}
	child.Dispatch(args)
	if handled, exit := probe.Dispatch(args[1:]); handled {
		os.Exit(exit)
	}
	if args[1] == noopArg {
		os.Exit(runNoop())
	}
}

// Run runs a command within its policy and waits until nothing of it is left.
//
// The result is never nil and its receipt always filled as far as the run
// came. An error means that the command was not executed ([ErrPolicy],
// [ErrUnavailable]) or that ctx ended; a command that could not be found or
// executed is no error but an exit code, as in a shell.
func Run(ctx context.Context, c *Command) (*Result, error) {
	r := &runner{cmd: c, receipt: newReceipt()}
	defer r.close()
	err := r.run(ctx)
	return r.result(err)
}

func newReceipt() *Receipt { return &Receipt{Version: ReceiptVersion, Started: time.Now()} }

// runner carries one run through its stages.
type runner struct {
	cmd     *Command
	receipt *Receipt
	environ []string

	policies *policies
	resolved *policy.Resolved // the effective one of policies
	plan     *plan.Plan
	names    *names
	facts    *probe.Facts
	group    *cgroup.Group // nil: none
	choice   *backend.Choice
	confined *backend.Confinement
	guard    *launch.Guard
	launcher *launch.Launcher
	adopter  *launch.Adopter
	redactor *Redactor
	tmp      *os.File // the private temporary folder, or nil
	res      *launch.Result
	stdin    *os.File
	stdout   *launch.Output
	stderr   *launch.Output
	files    []*os.File // to close in the end
}

func (r *runner) run(ctx context.Context) error {
	if len(r.cmd.Argv) == 0 {
		return &policyError{errors.New("cannot run an empty command")}
	}
	if err := r.prepare(); err != nil {
		return err
	}
	r.receipt.Durations.Plan = milliseconds(time.Since(r.receipt.Started))
	return r.launch(ctx)
}

// neededDescriptors is how many descriptors a run may need: those of the
// standard streams, the launch and the broker, with room to spare. Without
// them the Go runtime itself would end the process somewhere on the way.
const neededDescriptors = 48

var errDescriptors = fmt.Errorf("the limit of open files is too low: at least %d are needed (ulimit -n)", neededDescriptors)

// prepare goes from the policy to a backend that enforces all of it.
func (r *runner) prepare() (err error) {
	r.environ = r.cmd.environ()
	r.names = namesFor(r.environ)
	if r.launcher == nil {
		if err := r.startLauncher(); err != nil {
			return setupError("landlock", err)
		}
	}
	tmp, err := r.tmpName()
	if err != nil {
		return setupError("landlock", err)
	}
	if r.policies, err = resolve(r.cmd, tmp); err != nil {
		return &policyError{err}
	}
	r.resolved = r.policies.effective
	if err := r.makeTmp(); err != nil {
		return setupError("landlock", err)
	}
	if r.plan, err = r.policies.compile(r.names); err != nil {
		return setupError("", err)
	}
	r.plan.Places = stock.Places(variable(r.environ, "HOME"), variable(r.environ, "XDG_STATE_HOME"), r.tmpBase())
	r.receipt.plan(r.plan)
	if err := r.openCgroup(); err != nil {
		return setupError("landlock", err)
	}
	r.choice, err = backend.Select(all.Backends(), r.plan, r.facts)
	if err != nil {
		return err
	}
	if !r.choice.Backend.Creates(r.facts) {
		r.plan.NothingNew()
		r.receipt.plan(r.plan)
	}
	r.receipt.Backend, r.receipt.Coverage = r.choice.Backend.Name(), coverageOf(r.choice.Coverage)
	streams, err := r.connect()
	if err == nil {
		r.confined, err = r.choice.Backend.Confine(r.plan, r.facts, streams)
	}
	if err == nil {
		err = r.names.recordWrites(r.plan)
	}
	return setupError(r.choice.Backend.Name(), err)
}

// startLauncher looks at the host and starts the launcher, whose own start
// then goes on beside the planning.
func (r *runner) startLauncher() (err error) {
	if !sys.HasDescriptors(neededDescriptors) {
		return errDescriptors
	}
	if r.facts, err = probe.Quick(); err != nil {
		return err
	}
	r.receipt.host(r.facts)
	if r.guard, err = launch.NewGuard(r.facts.Rights); err != nil {
		return err
	}
	if r.cmd.Exclusive {
		// Before there is a launcher, so that it is no child to be spared.
		if r.adopter, err = launch.Adopt(); err != nil {
			return err
		}
	}
	if r.launcher, err = launch.Start(r.guard); err != nil || !r.cmd.Exclusive {
		return err
	}
	// A command that makes itself the terminal's foreground group must not
	// stop this process, which keeps its time, when it writes to the
	// terminal. The launcher was started before and hands the default on.
	for _, s := range []syscall.Signal{syscall.SIGTTOU, syscall.SIGTTIN} {
		if err := sys.IgnoreSignal(s); err != nil {
			return err
		}
	}
	return nil
}

// launch starts the command and follows it to its end.
func (r *runner) launch(ctx context.Context) error {
	secrets, err := r.names.readSecrets(r.resolved.Secrets, r.environ, r.plan.Tree.Mode)
	if err == nil {
		err = addSecrets(secrets, r.cmd.Secrets)
	}
	if err != nil {
		return &policyError{err}
	}
	r.redactor = newRedactor(secrets)
	req, err := r.request(plan.Environ(r.resolved.Env, r.environ, secrets))
	if err != nil {
		return err
	}
	if len(req.Spec.Files) == 0 {
		return nil // notFound has set the outcome
	}
	b := r.serveBroker(req)
	r.res, err = r.launcher.Run(ctx, req)
	b.stop(r.receipt)
	if r.res != nil && r.res.Killed {
		// Without an adopter the orphans have fallen to another process.
		r.res.Left = r.adopter == nil || r.adopter.Kill(adoptedTime) != nil
	}
	if r.res != nil && r.res.Emptied {
		r.confined.Over()
	}
	if r.res != nil && (r.res.Started || r.res.ExecErr != nil) {
		r.receipt.launched(r.res, req.Stdout, req.Stderr)
		r.receipt.Outcome.MemoryKills = r.group.Killed()
	}
	switch {
	case errors.Is(err, launch.ErrLost):
		r.receipt.Outcome.lost()
		return fmt.Errorf("%w; %s", err, r.receipt.Outcome.remains())
	case err != nil && ctx.Err() != nil && r.receipt.Outcome != nil:
		r.receipt.Outcome.Cancelled = true
		return err
	}
	return setupError(r.choice.Backend.Name(), err)
}

// request lays out what the launcher gets.
func (r *runner) request(environ []string) (*launch.Request, error) {
	files, found := lookup(r.cmd.Argv[0], r.plan.WorkDir.Path, environ)
	if len(files) == 0 {
		r.notFound(found)
		return &launch.Request{Spec: &child.Spec{}}, nil
	}
	dir, err := r.openWorkDir()
	if err != nil {
		return nil, setupError(r.choice.Backend.Name(), err)
	}
	limits, err := rlimits(r.resolved.Limits, r.group.Controllers())
	if err == nil {
		err = r.group.Limit(r.resolved.Limits.MemoryBytes, r.resolved.Limits.Processes)
	}
	if err != nil {
		return nil, setupError(r.choice.Backend.Name(), err)
	}
	req := &launch.Request{
		Spec: &child.Spec{
			Files: files, Argv: r.cmd.Argv, Env: environ, Tmp: r.resolved.TmpDir, Limits: limits,
			RestrictFlags: r.confined.RestrictFlags,
			Filter:        r.confined.Filter, FilterFlags: r.confined.FilterFlags,
		},
		WorkDir: dir, Ruleset: r.confined.Ruleset, Tmp: r.tmp, Cgroup: r.group.Procs(),
		Stdin: r.stdin, Stdout: r.stdout, Stderr: r.stderr,
		Signals: r.cmd.Signals, Surrender: r.surrender, Started: r.cmd.Started,
	}
	if most := r.resolved.Limits.CPUSeconds; most != nil && r.group.Controllers().CPU {
		req.Exceeded = func() bool {
			used, _ := r.group.CPU()
			return used > time.Duration(*most)*time.Second
		}
	}
	if t := r.resolved.Limits.Timeout; t != nil {
		req.Timeout = time.Duration(*t)
	}
	return req, nil
}

func (r *runner) openWorkDir() (*os.File, error) {
	fd, err := hostpath.New().Open(r.plan.WorkDir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the working directory: %w", err)
	}
	f := os.NewFile(uintptr(fd), r.plan.WorkDir.Path)
	r.files = append(r.files, f)
	return f, nil
}

// adoptedTime bounds the wait for processes that a killed launcher left.
const adoptedTime = 30 * time.Second

func (r *runner) notFound(found bool) {
	o := &Outcome{ExitCode: ExitNotFound, ExecError: "cannot find the command " + r.cmd.Argv[0] + " in PATH"}
	if found {
		o.ExitCode = ExitNotExecutable
		o.ExecError = "cannot execute " + r.cmd.Argv[0] + ": no file of that name in PATH is executable"
	}
	r.receipt.Outcome = o
}

func (r *runner) result(err error) (*Result, error) {
	res := &Result{ExitCode: ExitUnavailable, Receipt: r.receipt, Redactor: r.redactor}
	if r.resolved != nil {
		r.receipt.PolicyDigest, r.receipt.BoundDigest = r.policies.digests()
	}
	if r.receipt.Outcome != nil && CodeOf(err) == "" {
		res.ExitCode = r.receipt.Outcome.ExitCode
	}
	if err != nil {
		r.receipt.Code, r.receipt.Error = CodeOf(err), err.Error()
	}
	var un *backend.UnavailableError
	if errors.As(err, &un) {
		r.receipt.Backend = un.Backend
	}
	r.removeTmp()
	r.addGrants() // for names as they are, not as they are shown
	r.infer()
	r.receipt.redact(r.redactor)
	return res, err
}

// openCgroup opens the control group that the caller has made for the command.
func (r *runner) openCgroup() (err error) {
	if r.cmd.Cgroup == "" {
		return nil
	}
	if r.group, err = cgroup.Open(r.cmd.Cgroup); err == nil {
		r.plan.Cgroup = plan.Cgroup(r.group.Controllers())
	}
	return err
}

func (r *runner) close() {
	r.group.Close()
	r.launcher.Abort()
	r.guard.Close()
	if r.confined != nil {
		r.confined.Close()
	}
	for _, f := range r.files {
		_ = f.Close()
	}
}
