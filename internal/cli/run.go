// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/policy"
)

const runUsage = `run [flags] -- COMMAND [ARG...]

Runs a command within a policy. The exit code is the command's own, 128+n if
signal n ended it, 124 after a timeout, 125 if nothing ran (the policy is
invalid, or no sandbox can be made here), 126 if the command can't be
executed, 127 if it can't be found.

Examples:
  ambit run -- make test
  ambit run --block-write vendor --env CI=1 --timeout 5m -- go test ./...
  ambit run --secret TOKEN=file:~/.token --allow-network -- ./deploy.sh
  ambit run --server $XDG_RUNTIME_DIR/ambit/ambitd.sock --project shop -- make`

// jsonOutput bounds each stream that --json keeps, where no limit is set: the
// answer is one JSON value, held in memory.
const jsonOutput = 8 << 20

func (a *App) run(args []string) int {
	fs := newFlags("run")
	p := addPolicyFlags(fs)
	asJSON := fs.Bool("json", false, "print one JSON object with the output, the outcome and the receipt")
	remote := addRemoteFlags(fs)
	receiptFile := fs.String("receipt", "", "write the receipt to `FILE`")
	if code, ok := a.parse(p, runUsage, args, ambit.ExitUnavailable); !ok {
		return code
	}
	switch {
	case remote.server != "":
		return a.remote(args)
	case remote.alone():
		return a.misuse(ambit.ExitUnavailable, "--"+remote.used[0]+" is for runs by a service", "add --server ADDRESS, or leave it out")
	case fs.NArg() == 0:
		return a.misuse(ambit.ExitUnavailable, "no command given", "usage: ambit run [flags] -- COMMAND [ARG...]")
	}
	receipt, err := a.openReceipt(*receiptFile)
	if err != nil {
		a.complain(err.Error())
		return ambit.ExitUnavailable
	}
	c, err := p.command(a)
	if err != nil {
		return a.refuse(err, *asJSON)
	}
	c.Argv, c.Stdin, c.Exclusive = fs.Args(), a.Stdin, true
	c.Dedicated = true
	signals, stop := a.forwardSignals()
	defer stop()
	c.Signals = signals
	if *asJSON {
		return a.runJSON(c, receipt)
	}
	c.Stdout, c.Stderr = a.Stdout, a.Stderr
	res, err := ambit.Run(context.Background(), c)
	a.report(res, err)
	if err := writeReceipt(receipt, res); err != nil {
		a.complain(err.Error())
	}
	return res.ExitCode
}

// refuse answers a run that did not come so far as to have a receipt.
func (a *App) refuse(err error, asJSON bool) int {
	if asJSON {
		a.printJSON(answer{ExitCode: ambit.ExitUnavailable, Code: ambit.CodeOf(err), Error: err.Error(),
			StdoutEncoding: "utf-8", StderrEncoding: "utf-8",
			Receipt: &ambit.Receipt{Version: ambit.ReceiptVersion, Started: time.Now(), Code: ambit.CodeOf(err), Error: err.Error()}})
	} else {
		a.complain(err.Error())
	}
	return ambit.ExitUnavailable
}

// report says on stderr what the command itself could not.
func (a *App) report(res *ambit.Result, err error) {
	if res.Receipt.TmpLeft != "" {
		a.complain("the private temporary folder is left behind: " + res.Receipt.TmpLeft)
	}
	if err != nil {
		a.complain(res.Redactor.Redact(err.Error()))
		a.nextStep(err)
		return
	}
	a.listed(res.Receipt)
	o := res.Receipt.Outcome
	if o.ExecError != "" {
		a.complain(o.ExecError)
	}
	if o.TimedOut {
		a.complain("the time limit ended the command")
	}
	for _, s := range []struct {
		name  string
		count *ambit.OutputCount
	}{{"stdout", o.Stdout}, {"stderr", o.Stderr}} {
		if s.count != nil && s.count.Discarded > 0 {
			a.complain(fmt.Sprintf("%d of %d bytes of %s were beyond the limit and discarded", s.count.Discarded, s.count.Bytes, s.name))
		}
	}
	if told := a.deniedNetwork(res.Receipt); o.ExitCode != 0 && !told {
		a.denied(res.Receipt)
	}
	if o.Left {
		a.complain("the kernel still holds processes that the command left")
	}
}

// nextStep says what to do about an error that kept the command from running.
func (a *App) nextStep(err error) {
	if ambit.CodeOf(err) == ambit.CodeUnavailable {
		fmt.Fprintln(a.Stderr, "Nothing was run. ambit doctor says what this host can enforce and what blocks it.")
	}
}

// answer is what --json prints for a run.
type answer struct {
	ExitCode int        `json:"exit_code"`
	Code     ambit.Code `json:"code,omitempty"`
	Error    string     `json:"error,omitempty"`
	TimedOut bool       `json:"timed_out"`
	Stdout   string     `json:"stdout"`
	Stderr   string     `json:"stderr"`
	// StdoutEncoding and StderrEncoding are "utf-8", or "base64" for output
	// that is not.
	StdoutEncoding string `json:"stdout_encoding"`
	StderrEncoding string `json:"stderr_encoding"`
	Truncated      bool   `json:"truncated"`
	// NetworkDenied is the receipt's.
	NetworkDenied string `json:"network_denied,omitempty"`
	// Inferred are the receipt's.
	Inferred []denial.Inferred `json:"inferred,omitempty"`
	Receipt  *ambit.Receipt    `json:"receipt"`
}

func (a *App) runJSON(c *ambit.Command, receipt *os.File) int {
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	limit := int64(jsonOutput)
	// Lowest of all layers, so that any other one decides.
	c.Layers = append([]policy.Layer{{Name: "--json", Policy: policy.Policy{Limits: &policy.Limits{OutputBytes: &limit}}}}, c.Layers...)
	res, err := ambit.Run(context.Background(), c)
	if err := writeReceipt(receipt, res); err != nil {
		a.complain(err.Error())
	}
	ans := answer{ExitCode: res.ExitCode, Receipt: res.Receipt, NetworkDenied: res.Receipt.NetworkDenied, Inferred: res.Receipt.Inferred}
	if err != nil {
		ans.Code, ans.Error = ambit.CodeOf(err), res.Redactor.Redact(err.Error())
	}
	var counts ambit.Outcome
	if o := res.Receipt.Outcome; o != nil {
		counts = *o
		ans.TimedOut = o.TimedOut
		ans.Truncated = o.Stdout != nil && o.Stdout.Discarded > 0 || o.Stderr != nil && o.Stderr.Discarded > 0
		if ans.Error == "" {
			ans.Error = o.ExecError
		}
	}
	ans.Stdout, ans.StdoutEncoding = res.Redactor.Output(stdout.Bytes(), counts.Stdout)
	ans.Stderr, ans.StderrEncoding = res.Redactor.Output(stderr.Bytes(), counts.Stderr)
	if code := a.printJSON(ans); code != exitOK && res.ExitCode == 0 {
		return code // not 125: the command has run, and is not to be run again
	}
	return res.ExitCode
}

// printJSON prints one indented value and a newline.
func (a *App) printJSON(v any) int {
	e := json.NewEncoder(a.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		a.complain("cannot print the answer: " + err.Error())
		return exitFailed
	}
	return exitOK
}
