// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"

	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/internal/secctx"
)

const contextUsage = `context [flags] [-- COMMAND [ARG...]]

Describes a security context: who a process is, what it may do, what it sees.
Without more, it is that of a program started from here, as this one was:

  setpriv --no-new-privs ambit context --json > child.json

--pid N describes a running process, as far as its user may look into it.

-- COMMAND describes what COMMAND starts as: the program is started outside of
any sandbox, but stopped before its first instruction and then killed, so that
nothing of it runs. With --through, COMMAND is a launcher that is run, outside
of any sandbox, with "ambit context --json" as its last arguments; what ambit
finds itself in there is shown.

What can't be read is listed with the reason. Values of environment variables
are never recorded. docs/context.md describes the JSON.

Examples:
  ambit context --path /var/run/docker.sock
  ambit context --pid 4711 --json --output service.json
  ambit context --through -- sudo -u builder`

// contextFlags are what a context is asked with.
type contextFlags struct {
	paths   []string
	pid     int
	json    bool
	through bool
	output  string
}

func (a *App) context(args []string) int {
	fs := newFlags("context")
	var f contextFlags
	fs.IntVar(&f.pid, "pid", 0, "describe the running process `N`")
	addPathFlag(fs, &f.paths)
	fs.BoolVar(&f.json, "json", false, "print JSON")
	fs.StringVar(&f.output, "output", "", "write JSON to `FILE`, so that the program's own output stays what it was")
	fs.BoolVar(&f.through, "through", false, "run the launcher COMMAND with ambit context behind it")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		a.flagHelp(fs, contextUsage)
		return exitOK
	case err != nil:
		return a.misuse(exitUsage, err.Error(), "ambit context --help lists the flags")
	case f.pid < 0, f.pid > 0 && fs.NArg() > 0, f.through && fs.NArg() == 0:
		return a.misuse(exitUsage, "give a pid, or a command, or nothing; --through needs a command", "usage: ambit context [--pid N] [--path P]... [--json] [-- COMMAND [ARG...]]")
	}
	c, err := a.gather(f, fs.Args())
	if err != nil {
		a.complain(err.Error())
		return exitFailed
	}
	return a.deliver(c, f)
}

func addPathFlag(fs *flag.FlagSet, paths *[]string) {
	fs.Func("path", "describe each step of the way to `PATH` too (repeatable)", func(v string) error {
		if v == "" {
			return errors.New("it must not be empty")
		}
		*paths = append(*paths, v)
		return nil
	})
}

// gather makes the context that is asked for.
func (a *App) gather(f contextFlags, command []string) (*secctx.Context, error) {
	switch {
	case f.through:
		return a.through(command, f.paths)
	case len(command) > 0:
		return secctx.GatherStarted(command, f.paths)
	}
	return secctx.Gather(f.pid, f.paths)
}

// deliver writes or shows a context.
func (a *App) deliver(c *secctx.Context, f contextFlags) int {
	switch {
	case f.output != "":
		if err := a.writeContext(f.output, c); err != nil {
			a.complain(err.Error())
			return exitFailed
		}
		return exitOK
	case f.json:
		if c.Taken.Of != "pid" && c.Taken.Record < 0 {
			c.Taken.Record = 1
		}
		return a.printJSON(c)
	}
	a.showContext(c)
	return exitOK
}

// writeContext writes for the caller alone to read: names of variables and
// arguments are nobody else's affair.
func (a *App) writeContext(name string, c *secctx.Context) error {
	f, err := hostpath.Here(a.getenv).Create(name, 0o600, hostpath.Nothing)
	if err != nil {
		return fmt.Errorf("cannot write the context: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		_ = f.Close()
		return fmt.Errorf("cannot write the context: %w", err)
	}
	e := json.NewEncoder(f)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err = e.Encode(c)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return fmt.Errorf("cannot write the context: %w", err)
	}
	return nil
}
