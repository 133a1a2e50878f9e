// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/ambit-sandbox/ambit"
)

const doctorUsage = `doctor [--json]

Says what this host can enforce: each fact, the backend that would be chosen,
what enforces each item of the contract, and what stands in the way. It runs a
real command in a real sandbox; the exit code is 0 only if that was confined.

Examples:
  ambit doctor
  ambit doctor --json | jq .blockers`

// slowAfter is when the user is told that something takes its time.
const slowAfter = 2 * time.Second

func (a *App) doctor(args []string) int {
	fs := newFlags("doctor")
	asJSON := fs.Bool("json", false, "print JSON")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		a.flagHelp(fs, doctorUsage)
		return exitOK
	case err != nil:
		return a.misuse(exitUsage, err.Error(), "usage: ambit doctor [--json]")
	case fs.NArg() > 0:
		return a.misuse(exitUsage, fmt.Sprintf("unexpected argument %q", fs.Arg(0)), "usage: ambit doctor [--json]")
	}
	slow := time.AfterFunc(slowAfter, func() { fmt.Fprintln(a.Stderr, "ambit: still trying what this host allows ...") })
	h, err := ambit.Probe(context.Background())
	slow.Stop()
	if err != nil {
		a.complain(err.Error())
		return exitFailed
	}
	code := exitOK
	if !h.Works {
		code = exitFailed
	}
	if *asJSON {
		if a.printJSON(h) != exitOK {
			return exitFailed
		}
		return code
	}
	a.showHost(h)
	return code
}

func (a *App) showHost(h *ambit.Host) {
	w := a.Stdout
	fmt.Fprintf(w, "kernel %s, Landlock ABI %d\n\nfacts\n", h.Kernel, h.LandlockABI)
	for _, f := range h.Facts {
		fmt.Fprintf(w, "  %-38s %-11s %s\n", f.Name, f.Verdict, f.Detail)
	}
	fmt.Fprintln(w, "\nsettings")
	for _, s := range h.Settings {
		value := s.Value
		if s.State != "set" {
			value = "(" + s.State + ")"
		}
		fmt.Fprintf(w, "  %-50s %s\n", s.Name, value)
	}
	for i, e := range h.Errata {
		if i == 0 {
			fmt.Fprintln(w, "\nknown faults of this kernel")
		}
		fmt.Fprintf(w, "  %s\n", e)
	}
	if len(h.Coverage) > 0 {
		fmt.Fprintln(w, "\nwhat enforces each item of the contract")
		a.showCoverage(h.Coverage)
	}
	for i, b := range h.Blockers {
		if i == 0 {
			fmt.Fprintln(w, "\nin the way")
		}
		fmt.Fprintf(w, "  %s (stops %s)\n    an administrator could: %s\n", b.Problem, b.Stops, b.Remedy)
	}
	if h.Works {
		fmt.Fprintf(w, "\nok: the %s backend; %s (%.1f ms)\n", h.Backend, h.Reason, h.Took)
		return
	}
	fmt.Fprintf(w, "\nnot usable: %s\n", h.Reason)
}
