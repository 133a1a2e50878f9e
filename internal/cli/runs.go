// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

const runsUsage = `runs [flags] [ID]

Lists what the service ran, newest last, or shows one run with its receipt.

Examples:
  ambit runs
  ambit runs --json 1f0a9c
  ambit runs --journal /srv/ambit/journal -n 100`

func (a *App) runs(args []string) int {
	fs := newFlags("runs")
	asJSON := fs.Bool("json", false, "print JSON")
	dir := fs.String("journal", "", "read the journal in `DIR` (default: the service's own)")
	most := fs.Int("n", 20, "list the last `N` runs; 0 lists all")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		a.flagHelp(fs, runsUsage)
		return exitOK
	case err != nil:
		return a.misuse(exitUsage, err.Error(), "usage: ambit runs [--json] [ID]")
	case fs.NArg() > 1 || *most < 0:
		return a.misuse(exitUsage, "too many arguments, or a negative number", "usage: ambit runs [--json] [ID]")
	}
	if *dir == "" {
		*dir = journal.DefaultDir(a.getenv("HOME"), a.getenv("XDG_STATE_HOME"))
	}
	runs, bad, err := journal.ReadAll(*dir)
	if err != nil {
		return a.misuse(exitFailed, err.Error(), "has the service run here? --journal DIR names another folder")
	}
	if bad > 0 {
		a.complain(fmt.Sprintf("%d lines of the journal can't be read", bad))
	}
	if fs.NArg() == 1 {
		return a.showRun(runs, fs.Arg(0))
	}
	if *most > 0 && len(runs) > *most {
		runs = runs[len(runs)-*most:]
	}
	if *asJSON {
		if runs == nil {
			runs = []*journal.Run{}
		}
		return a.printJSON(runs)
	}
	for _, r := range runs {
		fmt.Fprintf(a.Stdout, "%s  %s  %-9s %3s  %-16s %s\n", r.ID, r.Time.Local().Format(time.DateTime), outcomeOf(r), exitOf(r), r.Project, commandOf(r))
	}
	return exitOK
}

// showRun prints the one run whose ID begins so.
func (a *App) showRun(runs []*journal.Run, id string) int {
	var found *journal.Run
	for _, r := range runs {
		if strings.HasPrefix(r.ID, id) {
			if found != nil {
				return a.misuse(exitFailed, fmt.Sprintf("several runs begin with %q", id), "give more of the ID")
			}
			found = r
		}
	}
	if found == nil {
		return a.misuse(exitFailed, fmt.Sprintf("no run begins with %q", id), "ambit runs lists them")
	}
	return a.printJSON(found)
}

func outcomeOf(r *journal.Run) string {
	if r.End == nil {
		return "running"
	}
	return r.End.Outcome
}

func exitOf(r *journal.Run) string {
	if r.End == nil || r.End.Outcome == journal.Lost {
		return "-"
	}
	return strconv.Itoa(r.End.ExitCode)
}

// commandOf quotes what could write to the reader's terminal.
func commandOf(r *journal.Run) string {
	words := make([]string, len(r.Argv))
	for i, w := range r.Argv {
		words[i] = w
		if q := strconv.Quote(w); q[1:len(q)-1] != w || strings.ContainsAny(w, " ") || w == "" {
			words[i] = q
		}
	}
	return strings.Join(words, " ")
}

// getenv looks into the invocation's environment.
func (a *App) getenv(name string) string {
	for _, kv := range a.Environ {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v
		}
	}
	if name == "HOME" {
		home, _ := os.UserHomeDir()
		return home
	}
	return ""
}
