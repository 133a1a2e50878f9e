// SPDX-License-Identifier: Apache-2.0

// Package runner runs the service's commands, each with a supervisor process
// of its own. Some supervisors wait ahead, so that a command need not wait for
// one. The service's process itself restricts nothing, and is restricted by
// nothing.
package runner

import (
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/supervisor"
	"github.com/ambit-sandbox/ambit/policy"
)

// Request is a command to run.
type Request struct {
	Argv   []string
	Layers []policy.Layer // what is asked
	// Bounds are what may be had at most; nil is no bound.
	Bounds  []policy.Layer
	Dir     string // absolute
	Environ []string
	// Secrets are values by the names of their variables.
	Secrets map[string]string
	// Stdin is copied; nil is empty. A Read that never ends keeps one
	// goroutine after the run.
	Stdin io.Reader
	// Stdout and Stderr are each written to by one goroutine; nil discards.
	// An error from Write discards the rest. One that takes too long does so
	// too, and may still be under way when Run has returned.
	Stdout, Stderr io.Writer
	// Started, if not nil, is called when the command has been executed.
	Started func()
}

// Result is how a run ended.
type Result struct {
	// ExitCode is what a shell would report.
	ExitCode int
	Code     ambit.Code
	// Error says why the command did not run to its end.
	Error string
	// Receipt is always there.
	Receipt *ambit.Receipt
}

// Config is how a runner works.
type Config struct {
	// Supervisor is the path of the ambit binary; empty is the one beside
	// this program's own.
	Supervisor string
	// Pool is how many supervisors wait ahead: 0 is twice the processors, from
	// 2 to 16, and a negative number none.
	Pool int
	// Patience is how long a full stream waits for its reader, from the last
	// time that it took something; 0 is five seconds. Then output is
	// discarded until there is room again.
	Patience time.Duration
	// Cgroup is the folder of the control group that was delegated to this
	// program, in which each command gets one of its own. [Auto] finds it, and
	// uses it as far as it goes, or "auto:/FOLDER" the given one; empty or [Off]
	// is none. This process moves into a group below it.
	Cgroup string
	// Grace is how long a cancelled run may take to end before its supervisor
	// is killed; 0 is 40 seconds.
	Grace time.Duration

	build string // for tests: what a supervisor must be
	// For tests: a supervisor is about to be given its request, and was.
	giving, given func(pid int)
}

// Values of Config.Cgroup.
const (
	Auto = "auto"
	Off  = "off"
)

func (c *Config) defaults() {
	if c.Pool == 0 {
		c.Pool = min(max(2*runtime.NumCPU(), 2), 16)
	}
	c.Pool = max(c.Pool, 0)
	if c.Patience <= 0 {
		c.Patience = 5 * time.Second
	}
	if c.Grace <= 0 {
		c.Grace = 40 * time.Second // more than the engine takes at most to give up on a tree
	}
	if c.build == "" {
		c.build = supervisor.Build()
	}
}

// ErrLost is matched by the error of a run whose supervisor or launcher was
// killed after the command may have been executed. The receipt's Outcome.Left
// says whether something of it may be left.
var ErrLost = errors.New("the run was lost")

// Error is how a run failed. It matches [ambit.ErrUnavailable],
// [ambit.ErrPolicy] or [ErrLost] as far as one of them is meant.
type Error struct {
	Code ambit.Code
	Lost bool
	Text string
}

func (e *Error) Error() string { return e.Text }

// Is tells what the error means.
func (e *Error) Is(target error) bool {
	switch target {
	case ambit.ErrUnavailable:
		return e.Code == ambit.CodeUnavailable
	case ambit.ErrPolicy:
		return e.Code == ambit.CodePolicy
	case ErrLost:
		return e.Lost
	}
	return false
}
