// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line: a table of commands, their flags, and how
// results are shown. What it knows of sandboxes it knows from package ambit.
package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/supervisor"
)

// App is one invocation: its streams and environment, so that tests can give
// others.
type App struct {
	Stdin          *os.File
	Stdout, Stderr *os.File
	Environ        []string
}

// command is one line of the table.
type command struct {
	name, args, short string
	run               func(a *App, args []string) int
}

// commands returns the table, in the order in which help shows it.
func commands() []command {
	return []command{
		{"run", "[flags] -- COMMAND [ARG...]", "run a command within a policy", (*App).run},
		{"policy show", "[flags]", "show what a policy comes to on this host", (*App).policyShow},
		{"policy check", "[FILE...]", "check policy files", (*App).policyCheck},
		{"runs", "[flags] [ID]", "list what the service ran, or show one run", (*App).runs},
		{"context", "[flags] [-- COMMAND...]", "describe a security context: who, what it may do and sees", (*App).context},
		{"diff", "[flags] A B", "compare two security contexts", (*App).diff},
		{"doctor", "[--json]", "say what this host can enforce, and prove it by a run", (*App).doctor},
		{"version", "[--json]", "print the version", (*App).version},
	}
}

// Exit codes of everything but a command's own; run's are in package ambit.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs the command that args (without the program's name) ask for.
func Main(args []string) int {
	a := &App{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ()}
	return a.Main(args)
}

// Main runs the command that args ask for and returns the exit code.
func (a *App) Main(args []string) int {
	if len(args) == 0 {
		a.usage(a.Stderr)
		return exitUsage
	}
	for _, c := range commands() {
		words := strings.Fields(c.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == c.name {
			return c.run(a, args[len(words):])
		}
	}
	switch args[0] {
	case supervisor.Arg: // for the service, and in no help
		return supervisor.Main()
	case "help", "-h", "-help", "--help":
		a.usage(a.Stdout)
		return exitOK
	case "--version":
		return a.version(nil)
	case "policy":
		return a.misuse(exitUsage, "policy needs a verb", "try: ambit policy show, ambit policy check FILE")
	}
	return a.misuse(exitUsage, fmt.Sprintf("unknown command %q", args[0]), "to run a command: ambit run -- "+strings.Join(args, " "))
}

const examples = `
Examples:
  ambit run -- make test
  ambit run --write ../shared --timeout 10m -- npm test
  ambit run --policy ci.json --json -- go build ./...
  ambit policy show --policy ci.json

Without --policy and --extends, the policy is "workspace": the current folder
and a private temporary folder are writable, the system and the tool chains
are readable, the home is closed, and there is no network.
`

func (a *App) usage(w io.Writer) {
	fmt.Fprint(w, "ambit runs a command within a policy that the kernel enforces.\n\nUsage:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  ambit %-14s %-28s %s\n", c.name, c.args, c.short)
	}
	fmt.Fprint(w, "\nambit COMMAND --help lists a command's flags.\n", examples)
}

// misuse reports a call that can't be understood, with the next step.
func (a *App) misuse(code int, problem, next string) int {
	a.complain(problem)
	if next != "" {
		fmt.Fprintln(a.Stderr, next)
	}
	return code
}

// complain prints an error.
func (a *App) complain(msg string) { fmt.Fprintf(a.Stderr, "ambit: %s\n", msg) }
