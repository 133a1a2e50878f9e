// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/policy"
)

// Direct is the engine that supervises commands from this very process. It
// can't intersect a request's policy with the bound, so it refuses one.
type Direct struct{}

var errNarrow = errors.New("a folder_guard can't be held against the server's policy by this build; leave it out to run within the server's policy")

// Run runs a job by package ambit.
func (Direct) Run(ctx context.Context, j *Job) (*Done, error) {
	if j.Bounds != nil {
		err := ambit.PolicyError(errNarrow)
		return &Done{ExitCode: ambit.ExitUnavailable, Code: ambit.CodePolicy, Error: err.Error()}, err
	}
	c := &ambit.Command{Argv: j.Argv, Layers: j.Layers, Dir: j.Dir, Stdin: j.Stdin, Stdout: j.Stdout, Stderr: j.Stderr}
	c.Environ = append(c.Environ, j.Environ...)
	secrets := map[string]policy.Secret{}
	for name, value := range j.Secrets {
		// A name that no policy passes on by itself.
		source := "AMBITD_SECRET_" + name
		c.Environ = append(c.Environ, source+"="+value)
		secrets[name] = policy.Secret{Env: source}
	}
	if len(secrets) > 0 {
		c.Layers = append(c.Layers[:len(c.Layers):len(c.Layers)], policy.Layer{Name: "secrets", Policy: policy.Policy{Secrets: secrets}})
	}
	res, err := ambit.Run(ctx, c)
	d := &Done{ExitCode: res.ExitCode, Code: ambit.CodeOf(err), Receipt: res.Receipt}
	if err != nil {
		d.Error = res.Redactor.Redact(err.Error())
	}
	return d, err
}

// Probe runs a command in a sandbox to see that this host can.
func (Direct) Probe(ctx context.Context) (*ambit.Host, error) { return ambit.Probe(ctx) }

// Close does nothing: there is nothing between two runs.
func (Direct) Close() error { return nil }
