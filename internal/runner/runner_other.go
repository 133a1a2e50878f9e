// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-sandbox/ambit"
)

// Runner runs nothing on this system.
type Runner struct{}

var errSystem = fmt.Errorf("%w: this system has no backend", ambit.ErrUnavailable)

// New fails on this system.
func New(Config) (*Runner, error) { return nil, errSystem }

// Run fails on this system.
func (*Runner) Run(context.Context, *Request) (*Result, error) {
	return &Result{ExitCode: ambit.ExitUnavailable, Code: ambit.CodeUnavailable, Error: errSystem.Error(),
		Receipt: &ambit.Receipt{Version: ambit.ReceiptVersion}}, errors.Join(errSystem)
}

// Probe fails on this system.
func (*Runner) Probe(context.Context) (*ambit.Host, error) { return nil, errSystem }

// Limits says what bounds a run on this system.
func (*Runner) Limits() string { return "nothing: " + errSystem.Error() }

// Close does nothing.
func (*Runner) Close() error { return nil }
