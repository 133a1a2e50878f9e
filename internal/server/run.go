// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/journal"
	"github.com/ambit-sandbox/ambit/internal/redact"
	"github.com/ambit-sandbox/ambit/internal/runner"
)

// result is the answer to a command that ran.
type result struct {
	RunID           string            `json:"run_id"`
	ExitCode        int               `json:"exit_code"`
	Signal          int               `json:"signal,omitempty"`
	TimedOut        bool              `json:"timed_out"`
	Cancelled       bool              `json:"cancelled,omitempty"`
	Stdout          string            `json:"stdout"`
	Stderr          string            `json:"stderr"`
	StdoutEncoding  string            `json:"stdout_encoding"`
	StderrEncoding  string            `json:"stderr_encoding"`
	StdoutTruncated bool              `json:"stdout_truncated"`
	StderrTruncated bool              `json:"stderr_truncated"`
	StdoutBytes     int64             `json:"stdout_bytes"`
	StderrBytes     int64             `json:"stderr_bytes"`
	Durations       durations         `json:"durations"`
	Receipt         *ambit.Receipt    `json:"receipt"`
	Denials         []denial.Denial   `json:"denials"`
	NetworkDenied   string            `json:"network_denied,omitempty"`
	Inferred        []denial.Inferred `json:"inferred,omitempty"`
	Code            string            `json:"code,omitempty"`
	Error           string            `json:"error,omitempty"`
}

type durations struct {
	Queued float64 `json:"queued_ms"`
	Total  float64 `json:"total_ms"`
	ambit.Durations
}

// execution is one run on its way.
type execution struct {
	s              *Server
	q              *request
	id, who        string
	began          time.Time
	queued         time.Duration
	job            *runner.Request
	redact         *redact.Redactor
	stdout, stderr *output
	ctx            context.Context
}

// follower sees a run on its way. What follow returns is called when the run is
// over.
type follower interface {
	follow(x *execution, cancel func()) (join func())
}

// run runs a request and makes the answer. Nobody need follow.
func (s *Server) run(ctx context.Context, who string, q *request, live follower) *answer {
	if !s.begin() {
		return s.refuse(newProblem(http.StatusServiceUnavailable, codeShutdown, errShutdown.Error()))
	}
	defer s.runs.Done()
	ctx, cancel := s.during(ctx)
	defer cancel()
	x := &execution{s: s, q: q, id: strings.ToLower(rand.Text()), who: who, began: time.Now(), ctx: ctx,
		stdout: &output{limit: s.outputLimit(q)}, stderr: &output{limit: s.outputLimit(q)}}
	// What can't be run is told before the wait; after it, it is looked at anew.
	if _, err := s.job(q); err != nil {
		return s.refuse(requestProblem(err))
	}
	leave, err := s.queue.enter(ctx, q.Project, q.Serialize)
	if err != nil {
		return s.refuse(x.notTaken(err))
	}
	defer leave()
	x.queued = time.Since(x.began)
	if x.job, err = s.job(q); err != nil {
		return s.refuse(requestProblem(err))
	}
	x.redact = redact.New(x.job.Secrets)
	start := x.start()
	defer s.active.add(start)()
	if err := s.journal.Start(start); err != nil && s.config.JournalRequired {
		return s.refuse(newProblem(http.StatusServiceUnavailable, codeJournal, "the run can't be noted, and the configuration demands it: nothing was run"))
	}
	d, err := x.engine(live, cancel)
	return x.answer(d, err)
}

// engine runs the job, its output redacted and bounded.
func (x *execution) engine(live follower, cancel func()) (*runner.Result, error) {
	out, errs := x.redact.Writer(x.stdout), x.redact.Writer(x.stderr)
	x.job.Stdout, x.job.Stderr = out, errs
	var join func()
	if live != nil {
		join = live.follow(x, cancel)
	}
	d, err := x.s.engine.Run(x.ctx, x.job)
	_, _ = out.Close(), errs.Close()
	if join != nil {
		join()
	}
	return d, err
}

func (x *execution) start() *journal.Start {
	argv := make([]string, len(x.job.Argv))
	for i, a := range x.job.Argv {
		argv[i] = x.redact.Text(a)
	}
	return &journal.Start{ID: x.id, Time: x.began, Who: x.who, Project: x.q.Project, Argv: argv, Secrets: x.q.secretNames()}
}

// notTaken answers a run that got no place.
func (x *execution) notTaken(err error) *problem {
	switch {
	case errors.Is(err, errBusy), errors.Is(err, errWaited):
		p := newProblem(http.StatusTooManyRequests, codeBusy, err.Error()+"; try again later")
		p.retryAfter = "1"
		return p
	case errors.Is(err, errShutdown):
		return newProblem(http.StatusServiceUnavailable, codeShutdown, err.Error())
	}
	return newProblem(http.StatusServiceUnavailable, codeCancelled, "the request was cancelled while it waited")
}

// answer judges what came back.
func (x *execution) answer(d *runner.Result, err error) *answer {
	x.clean(d)
	o := &ambit.Outcome{ExitCode: d.ExitCode}
	if d.Receipt != nil && d.Receipt.Outcome != nil {
		o = d.Receipt.Outcome
	}
	cancelled := x.ctx.Err() != nil && err != nil && d.Code == ""
	ran := d.Code == "" && (err == nil || cancelled || o.Lost)
	x.end(d, o, cancelled, ran)
	if !ran {
		return x.s.refuse(x.failed(d))
	}
	r := x.result(d, o)
	if r.Cancelled = cancelled; cancelled {
		r.Code, r.Error = codeCancelled, "the request was cancelled"
		if errors.Is(context.Cause(x.ctx), errShutdown) {
			r.Error = errShutdown.Error()
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		return x.s.refuse(newProblem(http.StatusInternalServerError, codeInternal, "the answer can't be written"))
	}
	return &answer{status: http.StatusOK, mediaType: "application/json", body: append(b, '\n'), executed: true}
}

// clean replaces secrets in what the command had a part in.
func (x *execution) clean(d *runner.Result) {
	d.Error = x.redact.Text(d.Error)
	if d.Receipt == nil {
		return
	}
	d.Receipt.Error, d.Receipt.BrokerFault = x.redact.Text(d.Receipt.Error), x.redact.Text(d.Receipt.BrokerFault)
	if o := d.Receipt.Outcome; o != nil {
		o.ExecError = x.redact.Text(o.ExecError)
	}
	for i := range d.Receipt.Denials {
		n := &d.Receipt.Denials[i]
		n.Named, n.Object = x.redact.Text(n.Named), x.redact.Text(n.Object)
	}
	for i := range d.Receipt.Inferred {
		n := &d.Receipt.Inferred[i]
		n.Named, n.Path = x.redact.Text(n.Named), x.redact.Text(n.Path)
	}
}

func (x *execution) result(d *runner.Result, o *ambit.Outcome) *result {
	r := &result{RunID: x.id, ExitCode: d.ExitCode, Signal: o.Signal, TimedOut: o.TimedOut, Receipt: d.Receipt,
		Denials: []denial.Denial{}, Error: d.Error, Durations: durations{Queued: ms(x.queued), Total: ms(time.Since(x.began))}}
	if r.Error == "" {
		r.Error = o.ExecError
	}
	if r.Error == "" && o.CPUExceeded {
		r.Error = "the limit of processor time was reached: the command was killed"
	}
	if r.Error == "" && o.MemoryKills > 0 {
		r.Error = fmt.Sprintf("the memory limit was reached: the kernel killed %d of the command's processes", o.MemoryKills)
	}
	if d.Receipt != nil {
		r.Durations.Durations = d.Receipt.Durations
		r.Denials = append(r.Denials, d.Receipt.Denials...)
		r.NetworkDenied, r.Inferred = d.Receipt.NetworkDenied, d.Receipt.Inferred
	}
	r.StdoutBytes, r.StdoutTruncated = x.stdout.count()
	r.StderrBytes, r.StderrTruncated = x.stderr.count()
	r.Stdout, r.StdoutEncoding = encode(x.stdout.kept, r.StdoutTruncated)
	r.Stderr, r.StderrEncoding = encode(x.stderr.kept, r.StderrTruncated)
	return r
}

// failed answers a run of which nothing was executed.
func (x *execution) failed(d *runner.Result) *problem {
	p := newProblem(http.StatusInternalServerError, codeInternal, "the run failed")
	switch d.Code {
	case ambit.CodePolicy:
		p = newProblem(http.StatusUnprocessableEntity, string(d.Code), d.Error)
	case ambit.CodeUnavailable:
		p = newProblem(http.StatusServiceUnavailable, string(d.Code), d.Error)
		p.Reason = d.Error
		if d.Receipt != nil {
			p.Backend = d.Receipt.Backend
		}
		x.s.doubt()
	default:
		x.s.log.Error("a run failed", "run_id", x.id, "error", d.Error)
	}
	code := ambit.ExitUnavailable
	stdout, _ := encode(x.stdout.kept, true)
	stderr, _ := encode(x.stderr.kept, true)
	p.RunID, p.Exit, p.Stdout, p.Stderr = x.id, &code, &stdout, &stderr
	return p
}

// end notes the run in the journal and the metrics.
func (x *execution) end(d *runner.Result, o *ambit.Outcome, cancelled, ran bool) {
	e := &journal.End{ID: x.id, Time: time.Now(), Outcome: journal.Exited, ExitCode: d.ExitCode, Code: string(d.Code), Error: d.Error,
		QueuedMS: ms(x.queued), TotalMS: ms(time.Since(x.began))}
	switch {
	case !ran:
		e.Outcome = journal.Refused
	case cancelled:
		e.Outcome = journal.Cancelled
	case o.Lost:
		e.Outcome = journal.Lost
	case o.TimedOut:
		e.Outcome = journal.TimedOut
	}
	denials := 0
	if d.Receipt != nil {
		e.PolicyDigest, denials = d.Receipt.PolicyDigest, denial.Total(d.Receipt.Denials)+d.Receipt.DenialsDropped
		e.Receipt, _ = json.Marshal(d.Receipt)
	}
	x.s.journal.End(e)
	x.s.metrics.ran(e.Outcome, time.Since(x.began)-x.queued, denials)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
