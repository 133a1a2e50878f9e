// SPDX-License-Identifier: Apache-2.0

// Package ambit runs a command within a declared policy that the kernel
// enforces, without root and without namespaces, or refuses to run it.
//
// A program that uses it calls [Dispatch] first thing in main: the launcher
// of a sandboxed command is the program itself, executed again.
//
//	func main() {
//		ambit.Dispatch(os.Args)
//		res, err := ambit.Run(ctx, &ambit.Command{Argv: []string{"make", "test"}})
//		...
//	}
package ambit

import (
	"io"
	"os"

	"github.com/ambit-sandbox/ambit/policy"
)

// Command is a command and the policy it runs within. The zero value of every
// field but Argv is useful.
type Command struct {
	// Argv is the program and its arguments. A name without a slash is
	// looked up in the PATH of the command's own environment.
	Argv []string
	// Layers are the policies to merge, lowest first. None means the default
	// policy: [policy.Workspace].
	Layers []policy.Layer
	// Bounds are the policies that say what may be had at most: what the
	// layers ask for beyond that is not granted, and where they list a path
	// that would get less than they ask for, nothing runs ([ErrPolicy]). nil
	// is no bound; an empty list means the default policy.
	Bounds []policy.Layer
	// Dir is the default of the policy's work_dir: absolute. Empty means the
	// current directory.
	Dir string
	// Environ is the caller's environment, of which the policy lets some
	// variables pass. nil means os.Environ().
	Environ []string
	// Secrets are values of secret variables, by name. They win over what
	// the policy says of the same variable.
	Secrets map[string]string

	// Stdin is the command's standard input: an *os.File is passed on as it
	// is, anything else is copied; nil is /dev/null.
	Stdin io.Reader
	// Stdout and Stderr receive the command's output. An *os.File is passed
	// on as it is, unless the policy limits the output; nil discards it.
	Stdout, Stderr io.Writer

	// Signals are passed on to the command; nil passes none.
	Signals <-chan os.Signal

	// Starting, if not nil, is called when all is planned and the command is
	// about to be launched: before that nothing has run, for certain.
	Starting func()
	// Started, if not nil, is called when the command has been executed.
	Started func()

	// Cgroup is the folder of an empty control group of version 2 that was
	// made for this command alone and belongs to the caller: the command and
	// its descendants are in it, and limits are set there as far as it has
	// the controllers. Empty is none. The caller removes it.
	Cgroup string

	// Exclusive says that this process has no children but this command's:
	// it then takes over, and ends, what a killed launcher leaves behind.
	// Without it such processes fall to the system's init, and only the
	// command's first process is sure to end.
	Exclusive bool

	// Dedicated says that this process is there for this run alone, and does
	// nothing after it but say how it went. Once all is set up it gives up,
	// for good and in all its threads, what that does not take: it can't
	// execute a program, start a process, make a socket, or trace another
	// process any more, and other processes of the user can't look into it.
	// A program that goes on with its own work must not set it.
	Dedicated bool
}

// Result is how a run ended.
type Result struct {
	// ExitCode is what a shell would report; see [Outcome].
	ExitCode int
	// Receipt is there also when nothing ran.
	Receipt *Receipt
	// Redactor replaces the values of the run's secrets in text.
	Redactor *Redactor
}
