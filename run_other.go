// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package ambit

import (
	"context"
	"errors"
	"time"

	"github.com/ambit-sandbox/ambit/internal/backend"
)

// Dispatch does nothing on this system: nothing can be launched.
func Dispatch([]string) {}

// Run fails with [ErrUnavailable] on this system, and runs nothing.
func Run(context.Context, *Command) (*Result, error) {
	err := &backend.UnavailableError{Backend: "missing", Err: errors.New("this system has none")}
	return &Result{ExitCode: ExitUnavailable, Receipt: &Receipt{
		Version: ReceiptVersion, Started: time.Now(), Code: CodeUnavailable, Error: err.Error(),
	}}, err
}

// noopArg is not used on this system: nothing is run.
const noopArg = "__noop"
