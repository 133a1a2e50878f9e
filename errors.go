// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"errors"
	"fmt"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/policy"
)

// ErrUnavailable is matched (errors.Is) by every error that means: a sandbox
// that enforces the policy can't be made on this host. Nothing has run.
var ErrUnavailable = backend.ErrUnavailable

// ErrPolicy is matched by every error that means: the policy, or a path that
// it lists, can't be used. Nothing has run.
var ErrPolicy = errors.New("POLICY_INVALID")

// Code is the typed code of an error in receipts and answers.
type Code string

const (
	// CodeUnavailable goes with ErrUnavailable.
	CodeUnavailable Code = "SANDBOX_UNAVAILABLE"
	// CodePolicy goes with ErrPolicy.
	CodePolicy Code = "POLICY_INVALID"
)

// CodeOf returns the typed code of an error of this package; empty for others
// (a cancelled context, an internal error).
func CodeOf(err error) Code {
	switch {
	case errors.Is(err, ErrUnavailable):
		return CodeUnavailable
	case errors.Is(err, ErrPolicy):
		return CodePolicy
	}
	return ""
}

// PolicyError makes err, as of a policy file that can't be read, match
// [ErrPolicy].
func PolicyError(err error) error { return &policyError{err} }

// policyError gives an error of the policy its code.
type policyError struct{ err error }

func (e *policyError) Error() string        { return fmt.Sprintf("%v: %v", ErrPolicy, e.err) }
func (e *policyError) Unwrap() error        { return e.err }
func (e *policyError) Is(target error) bool { return target == ErrPolicy }

// setupError gives a failed step of the set-up its code.
func setupError(backendName string, err error) error {
	var (
		paths *plan.PathError
		more  *plan.BoundError
		bad   *policy.Error
		step  *child.StepError
		un    *backend.UnavailableError
		led   *hostpath.LinkError
		known *policyError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &paths), errors.As(err, &more), errors.As(err, &bad), errors.As(err, &led):
		return &policyError{err}
	case errors.As(err, &un), errors.As(err, &known):
		return err
	case errors.As(err, &step):
		return &backend.UnavailableError{Backend: backendName, Err: err}
	}
	return &backend.UnavailableError{Backend: backendName, Err: err}
}
