// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"flag"
	"fmt"
	"sort"
	"strings"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/policy"
)

const showUsage = `policy show [flags]

Shows what a policy comes to on this host: the path tree (the nearest place at
or above a path decides), the environment, the limits, and what enforces each
item. It runs nothing.

Examples:
  ambit policy show
  ambit policy show --policy ci.json --block-write .git/hooks
  ambit policy show --json`

func (a *App) policyShow(args []string) int {
	fs := newFlags("policy show")
	p := addPolicyFlags(fs)
	asJSON := fs.Bool("json", false, "print JSON")
	if code, ok := a.parse(p, showUsage, args, exitUsage); !ok {
		return code
	}
	if fs.NArg() > 0 {
		return a.misuse(exitUsage, fmt.Sprintf("unexpected argument %q", fs.Arg(0)), "a policy file is given with --policy FILE")
	}
	c, err := p.command(a)
	var v *ambit.Preview
	if err == nil {
		v, err = ambit.Inspect(c)
	}
	if err != nil {
		a.complain(err.Error())
		return ambit.ExitUnavailable
	}
	if *asJSON {
		return a.printJSON(v)
	}
	a.showTree(v)
	a.showRest(v)
	return exitOK
}

func (a *App) showTree(v *ambit.Preview) {
	for _, n := range v.Tree {
		mode := n.Mode
		if n.Pattern && mode != "none" {
			mode = "<=" + mode // what it matches may have less
		}
		fmt.Fprintf(a.Stdout, "%-5s  %s", mode, printable(n.Path))
		if n.Rule != n.Path {
			fmt.Fprintf(a.Stdout, "  (%s)", printable(n.Rule))
		}
		fmt.Fprintf(a.Stdout, "  [%s]\n", n.Origin)
	}
	for _, l := range v.Paths {
		if l.Status != "enforced" {
			fmt.Fprintf(a.Stdout, "%-5s  %s is %s  [%s]\n", "-", printable(l.Path), l.Status, l.Origin)
		}
	}
}

// printable quotes a path that would otherwise not stand in one line.
func printable(path string) string {
	q := fmt.Sprintf("%q", path)
	if q == `"`+path+`"` {
		return path
	}
	return q
}

func (a *App) showRest(v *ambit.Preview) {
	fmt.Fprintf(a.Stdout, "\nwork_dir  %s\nnetwork   %s\n", printable(v.WorkDir), v.Network)
	fmt.Fprintf(a.Stdout, "env       pass %s\n", strings.Join(v.EnvPass, " "))
	var set []string
	for name, value := range v.EnvSet {
		set = append(set, name+"="+value)
	}
	sort.Strings(set)
	for _, s := range set {
		fmt.Fprintf(a.Stdout, "          set  %s\n", printable(s))
	}
	if len(v.Secrets) > 0 {
		fmt.Fprintf(a.Stdout, "secrets   %s\n", strings.Join(v.Secrets, " "))
	}
	fmt.Fprintf(a.Stdout, "digest    %s\n\n", v.Digest)
	if v.Backend != "" {
		fmt.Fprintf(a.Stdout, "backend   %s enforces this\n", v.Backend)
	} else {
		fmt.Fprintf(a.Stdout, "backend   none: %s\n", v.Unavailable)
	}
	a.showCoverage(v.Coverage)
}

func (a *App) showCoverage(lines []ambit.CoverageLine) {
	for _, l := range lines {
		name := l.Item
		if l.Subject != "" {
			name += " " + printable(l.Subject)
		}
		fmt.Fprintf(a.Stdout, "  %-18s %-12s %s\n", name, l.Verdict, join(l.Mechanism, l.Reason))
	}
}

func join(mechanism, reason string) string {
	if mechanism != "" && reason != "" {
		return mechanism + "; " + reason
	}
	return mechanism + reason
}

const checkUsage = `policy check [--json] FILE...

Checks policy files: their syntax, their fields, and that they can be merged
in the given order. It looks at nothing but the files.

Example:
  ambit policy check ci.json`

// verdict is what --json prints for each file.
type verdict struct {
	File  string `json:"file"`
	Valid bool   `json:"valid"`
	Error string `json:"error,omitempty"`
}

func (a *App) policyCheck(args []string) int {
	fs := newFlags("policy check")
	asJSON := fs.Bool("json", false, "print JSON")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		a.flagHelp(fs, checkUsage)
		return exitOK
	case err != nil:
		return a.misuse(exitUsage, err.Error(), "ambit policy check --help lists the flags")
	case fs.NArg() == 0:
		return a.misuse(exitUsage, "no file given", "usage: ambit policy check FILE...")
	}
	verdicts, code := a.check(fs.Args())
	if *asJSON {
		a.printJSON(verdicts)
		return code
	}
	for _, v := range verdicts {
		if v.Valid {
			fmt.Fprintf(a.Stdout, "%s: valid\n", v.File)
		} else {
			a.complain(v.Error)
		}
	}
	return code
}

func (a *App) check(files []string) ([]verdict, int) {
	var layers []policy.Layer
	var out []verdict
	code := exitOK
	for _, f := range files {
		l, err := policy.ReadFile(f)
		if err == nil {
			layers = append(layers, l)
			_, err = ambit.Resolve(&ambit.Command{Layers: layers, Environ: a.Environ}, "/tmp/ambit-private")
		}
		v := verdict{File: f, Valid: err == nil}
		if err != nil {
			v.Error, code = err.Error(), ambit.ExitUnavailable
		}
		out = append(out, v)
	}
	return out, code
}
