// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/secctx"
)

const diffUsage = `diff [flags] A B
       ambit diff [flags] A -- LAUNCHER [ARG...]

Shows how two security contexts differ in what can matter, the most telling
first: A is where something works, B where it does not. Each is a file written
by ambit context --json, pid:N, or self, which is a program started from here.
A LAUNCHER is run, outside of any sandbox, with "ambit context" behind it.

The exit code is 0 if nothing differs, 1 if something does, 2 for trouble.

Examples:
  ambit diff self pid:4711
  ambit diff --path /var/run/docker.sock parent.json child.json
  ambit diff self -- setpriv --reuid 1000 --regid 1000 --clear-groups`

// exitDiffers is diff's answer that something differs, as of diff(1).
const exitDiffers = 1

func (a *App) diff(args []string) int {
	fs := newFlags("diff")
	asJSON := fs.Bool("json", false, "print JSON")
	var paths []string
	addPathFlag(fs, &paths)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		a.flagHelp(fs, diffUsage)
		return exitOK
	case err != nil:
		return a.misuse(exitUsage, err.Error(), "ambit diff --help lists the flags")
	}
	operands := fs.Args()
	launched := len(operands) > 2 && operands[1] == "--"
	if !launched && len(operands) != 2 {
		return a.misuse(exitUsage, "diff needs two contexts", "usage: ambit diff [--path P]... [--json] A B, or A -- LAUNCHER [ARG...]")
	}
	x, err := a.operand(operands[0], paths)
	var y *secctx.Context
	switch {
	case err != nil:
	case launched:
		y, err = a.through(operands[2:], paths)
	default:
		y, err = a.operand(operands[1], paths)
	}
	if err != nil {
		return a.misuse(exitUsage, err.Error(), "")
	}
	return a.showDiff(secctx.Diff(x, y), *asJSON)
}

// operand makes the context that a word of the command line stands for.
func (a *App) operand(word string, paths []string) (*secctx.Context, error) {
	if word == "self" {
		return secctx.Gather(0, paths)
	}
	if number, ok := strings.CutPrefix(word, "pid:"); ok {
		pid, err := strconv.Atoi(number)
		if err != nil || pid <= 0 {
			return nil, fmt.Errorf("cannot understand %q: a process is pid: and its number", word)
		}
		return secctx.Gather(pid, paths)
	}
	f, err := os.OpenFile(word, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot read a context (a file, pid:N or self): %w", err)
	}
	defer func() { _ = f.Close() }()
	c, err := secctx.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%w (in %s)", err, secctx.Escape(word))
	}
	return c, nil
}

func (a *App) showDiff(c *secctx.Comparison, asJSON bool) int {
	code := exitOK
	if len(c.Findings) > 0 {
		code = exitDiffers
	}
	if asJSON {
		if a.printJSON(c) != exitOK {
			return exitUsage
		}
		return code
	}
	if len(c.Findings) == 0 {
		fmt.Fprintln(a.Stdout, "nothing differs that can matter")
	}
	for _, f := range c.Findings {
		head := string(f.Cause)
		if f.Object != "" {
			head += "  " + f.Object
		}
		fmt.Fprintf(a.Stdout, "%s\n    A: %s\n    B: %s\n    %s\n", head, orNothing(f.A), orNothing(f.B), f.Why)
	}
	a.showGaps(c.NotCompared)
	return code
}

func orNothing(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// mostGaps bounds how many reasons a person is shown.
const mostGaps = 12

func (a *App) showGaps(gaps []secctx.Gap) {
	if len(gaps) > 0 {
		fmt.Fprintln(a.Stdout, "\nnot compared, since one of the two does not know it:")
	}
	slices.SortStableFunc(gaps, func(x, y secctx.Gap) int { return strings.Count(x.Field, ".") - strings.Count(y.Field, ".") })
	for _, g := range gaps[:min(len(gaps), mostGaps)] {
		r, side := g.B, "B"
		if g.A != nil {
			r, side = g.A, "A"
		}
		if g.A != nil && g.B != nil {
			side = "both"
		}
		fmt.Fprintf(a.Stdout, "  %s (%s): %s\n", g.Field, side, r.Why)
	}
	if n := len(gaps) - mostGaps; n > 0 {
		fmt.Fprintf(a.Stdout, "  and %d more, which --json lists\n", n)
	}
}
