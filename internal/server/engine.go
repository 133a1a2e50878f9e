// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/runner"
)

// Engine runs commands in sandboxes: a [runner.Runner]. The end of a context
// ends the command's tree before Run returns; its result is never nil.
type Engine interface {
	Run(ctx context.Context, q *runner.Request) (*runner.Result, error)
	Probe(ctx context.Context) (*ambit.Host, error)
	// Limits says by what memory and processes are bounded, and why.
	Limits() string
	Close() error
}
