// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/redact"
	"github.com/ambit-sandbox/ambit/internal/supervisor"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Run runs a command and waits until nothing of it is left. The result is
// never nil. An error is an *[Error], or ctx's if that ended the run: a command
// that failed, or could not be found, is none.
func (r *Runner) Run(ctx context.Context, q *Request) (*Result, error) {
	x := &run{r: r, q: q, began: time.Now(), redact: redact.New(q.Secrets)}
	res, err := x.run(ctx)
	if res == nil {
		res = x.failed(err)
	}
	if e := new(Error); err != nil && !errors.As(err, &e) && ctx.Err() == nil {
		err = &Error{Code: res.Code, Text: res.Error}
	}
	return res, err
}

// run is one run on its way.
type run struct {
	r      *Runner
	q      *Request
	began  time.Time
	redact *redact.Redactor

	process        *process
	theirs         []int  // the request and the command's ends of the streams
	group          string // the command's control group; empty: none
	stdin          *input
	stdout, stderr *output

	starting, started bool
	left              bool // processes of the run may be there still
	done              *supervisor.Result
}

func (x *run) run(ctx context.Context) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err := x.open()
	if err == nil {
		err = x.attempt(ctx)
	}
	x.release()
	defer func() { _ = x.removeGroup() }() // nothing has run in it, or it is gone
	x.stdin.finish()
	for _, o := range []*output{x.stdout, x.stderr} {
		if o != nil && err != nil {
			o.finish()
		}
	}
	if err != nil {
		return nil, err
	}
	return x.result(ctx)
}

// open makes the sealed request and the streams.
func (x *run) open() error {
	if err := x.makeGroup(); err != nil {
		return err
	}
	q := &supervisor.Request{Cgroup: x.group, Argv: x.q.Argv, Layers: x.q.Layers, Bounds: x.q.Bounds, Dir: x.q.Dir, Environ: x.q.Environ, Secrets: x.q.Secrets}
	b, err := q.Encode()
	if err != nil {
		return err
	}
	sealed, err := sys.SealedMemfd("ambit-request", b)
	if err != nil {
		return err
	}
	defer func() { _ = sealed.Close() }()
	fd, err := sys.DuplicateFrom(int(sealed.Fd()), 0)
	if err != nil {
		return err
	}
	x.theirs = append(x.theirs, fd)
	return x.openStreams()
}

func (x *run) makeGroup() (err error) {
	if x.r.groups != nil {
		x.group, err = x.r.groups.Make()
	}
	return err
}

// removeGroup ends what is still in the command's group: nothing, unless its
// launcher was killed together with its supervisor.
func (x *run) removeGroup() error {
	if x.group == "" {
		return nil
	}
	dir := x.group
	x.group = ""
	return x.r.groups.Remove(dir)
}

func (x *run) openStreams() (err error) {
	fd := -1
	if x.q.Stdin == nil {
		fd, err = syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	} else {
		x.stdin, fd, err = newInput(x.q.Stdin)
	}
	if err != nil {
		return err
	}
	x.theirs = append(x.theirs, fd)
	if x.stdout, fd, err = newOutput(x.q.Stdout, x.r.config.Patience); err != nil {
		return err
	}
	x.theirs = append(x.theirs, fd)
	if x.stderr, fd, err = newOutput(x.q.Stderr, x.r.config.Patience); err != nil {
		return err
	}
	x.theirs = append(x.theirs, fd)
	return nil
}

// release closes our copies of what is the supervisor's.
func (x *run) release() {
	for _, fd := range x.theirs {
		_ = syscall.Close(fd)
	}
	x.theirs = nil
}

// attempts bounds how often another supervisor is taken where one was killed
// before the command can have been started.
const attempts = 3

// attempt has a supervisor work on the request until it is done, or lost with
// the command under way.
func (x *run) attempt(ctx context.Context) error {
	for try := 1; ; try++ {
		if err := x.begin(ctx); err != nil {
			return err
		}
		x.follow(ctx)
		x.end()
		if x.done != nil || x.starting || ctx.Err() != nil || try == attempts {
			return nil
		}
		x.process.settled(treeTime)
		x.process.close()
	}
}

// begin gives a supervisor the request.
func (x *run) begin(ctx context.Context) error {
	var err error
	for range attempts {
		if x.process, err = x.r.take(ctx); err != nil {
			return err
		}
		hook(x.r.config.giving, x.process.pid)
		if err = x.process.conn.Write(&supervisor.Message{Kind: supervisor.Run}, x.theirs...); err == nil {
			hook(x.r.config.given, x.process.pid)
			return nil
		}
		x.process.close() // it has not read all of it, so nothing ran
	}
	return fmt.Errorf("cannot give the supervisor its request: %w", err)
}

func hook(f func(int), pid int) {
	if f != nil {
		f(pid)
	}
}

// follow listens to the supervisor until it is done or gone.
func (x *run) follow(ctx context.Context) {
	p := x.process
	stop := context.AfterFunc(ctx, func() {
		_ = p.conn.Write(&supervisor.Message{Kind: supervisor.Cancel})
		_ = p.socket.SetReadDeadline(time.Now().Add(x.r.config.Grace))
	})
	defer stop()
	for x.done == nil {
		m, _, err := p.conn.Read()
		if err != nil {
			return
		}
		switch m.Kind {
		case supervisor.Starting:
			x.starting = true
			x.release() // nobody else will need them
		case supervisor.Started:
			x.started = true
			if x.q.Started != nil {
				x.q.Started()
			}
		case supervisor.Done:
			x.done = m.Result
			return
		}
	}
}

// exitTime bounds the wait for a supervisor that has said that it is done.
const exitTime = 10 * time.Second

// end waits for the supervisor's end, or ends it, and then for the tree's.
func (x *run) end() {
	p := x.process
	if x.done != nil {
		// The end of the connection is the end of the process, or nearly.
		_ = p.socket.SetReadDeadline(time.Now().Add(exitTime))
		_, _, _ = p.conn.Read()
	}
	_ = p.socket.Close()
	p.kill()
}

func (x *run) result(ctx context.Context) (*Result, error) {
	x.left = !x.emptied()
	said := x.redact.Text(x.process.said())
	x.process.close()
	res := x.lost(said)
	if x.done != nil && x.done.Receipt != nil {
		res = &Result{ExitCode: x.done.ExitCode, Code: x.done.Code, Error: x.done.Error, Receipt: x.done.Receipt}
	}
	if o := res.Receipt.Outcome; o != nil {
		o.Left = x.left
		o.Stdout = counted(x.stdout, o.Stdout)
		o.Stderr = counted(x.stderr, o.Stderr)
	} else {
		x.stdout.finish()
		x.stderr.finish()
	}
	return res, x.judge(ctx, res)
}

// emptied waits until nothing of the run is left, and ends what is. It reports
// whether it came to that.
func (x *run) emptied() bool {
	settled := x.process.settled(treeTime)
	if x.group != "" {
		settled = x.removeGroup() == nil
	}
	own := x.r.program.children
	if x.process.orderly && x.done != nil && !leftBehind(x.done) {
		own.again()
		return settled
	}
	return own.sweep(sweepTime) && settled
}

// leftBehind: the supervisor says that it could not end everything.
func leftBehind(r *supervisor.Result) bool {
	return r.Receipt != nil && r.Receipt.Outcome != nil && r.Receipt.Outcome.Left
}

// judge says what went wrong, if anything did.
func (x *run) judge(ctx context.Context, res *Result) error {
	o := res.Receipt.Outcome
	lost := o != nil && o.Lost
	switch {
	case res.Error == "" && res.Code == "":
		return nil
	case ctx.Err() != nil && res.Code == "":
		if o != nil && lost {
			o.Cancelled = true
		}
		return ctx.Err()
	}
	return &Error{Code: res.Code, Lost: lost, Text: res.Error}
}

// counted finishes a stream. What the engine counted already, where it limits
// the output, is what the command wrote.
func counted(o *output, engine *ambit.OutputCount) *ambit.OutputCount {
	total, discarded := o.finish()
	if engine != nil {
		return &ambit.OutputCount{Bytes: engine.Bytes, Discarded: engine.Discarded + discarded}
	}
	return &ambit.OutputCount{Bytes: total, Discarded: discarded}
}

// lost is the result of a run whose supervisor did not finish it.
func (x *run) lost(said string) *Result {
	receipt := &ambit.Receipt{Version: ambit.ReceiptVersion, Started: x.began}
	if !x.starting && !x.started {
		text := "the supervisor ended before the command was started" + said
		receipt.Code, receipt.Error = ambit.CodeUnavailable, text
		return &Result{ExitCode: ambit.ExitUnavailable, Code: ambit.CodeUnavailable, Error: text, Receipt: receipt}
	}
	text := "the supervisor was killed while the command ran; nothing of the command is left" + said
	if x.left {
		text = "the supervisor was killed while the command ran; processes of the command may be left" + said
	}
	const killed = 128 + int(syscall.SIGKILL)
	receipt.Error = text
	receipt.Outcome = &ambit.Outcome{ExitCode: killed, Signal: int(syscall.SIGKILL), Executed: x.started, Lost: true}
	return &Result{ExitCode: killed, Error: text, Receipt: receipt}
}

// failed is the result where no supervisor got the request.
func (x *run) failed(err error) *Result {
	res := &Result{ExitCode: ambit.ExitUnavailable, Code: ambit.CodeOf(err), Error: x.redact.Text(err.Error())}
	if res.Code == "" && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		res.Code = ambit.CodeUnavailable
		res.Error = string(res.Code) + ": " + res.Error
	}
	res.Receipt = &ambit.Receipt{Version: ambit.ReceiptVersion, Started: x.began, Code: res.Code, Error: res.Error}
	return res
}
