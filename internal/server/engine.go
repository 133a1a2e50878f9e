// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/policy"
)

// Job is a command to run.
type Job struct {
	Argv    []string
	Layers  []policy.Layer // what is asked
	Bounds  []policy.Layer // what may be had at most; nil: no bound
	Dir     string         // absolute
	Environ []string
	Secrets map[string]string // values, by variable name
	Stdin   io.Reader         // nil: empty
	// Stdout and Stderr are each written to by one goroutine.
	Stdout, Stderr io.Writer
	Started        func() // may be nil: the command was executed
}

// Done is how a job ended.
type Done struct {
	ExitCode int
	Code     ambit.Code
	Error    string
	Receipt  *ambit.Receipt
}

// Engine runs commands in sandboxes. The end of a context ends the command's
// tree before Run returns; what Run returns is never nil.
type Engine interface {
	Run(ctx context.Context, j *Job) (*Done, error)
	Probe(ctx context.Context) (*ambit.Host, error)
	Close() error
}
