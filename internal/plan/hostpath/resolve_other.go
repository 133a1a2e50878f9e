//go:build !linux

// SPDX-License-Identifier: Apache-2.0

// Package hostpath answers the plan's questions about this host's paths.
package hostpath

import (
	"errors"
	"path/filepath"

	"github.com/ambit-sandbox/ambit/internal/plan"
)

// Resolver is not available on this system.
type Resolver struct{}

// New returns a resolver whose every answer is an error.
func New() *Resolver { return &Resolver{} }

// Earlier says what sandboxed commands of earlier runs could have made.
type Earlier interface {
	Doubts(link string, owner uint32) bool
	Covers(name string) (place string, yes bool)
}

// After is New.
func After(Earlier) *Resolver { return &Resolver{} }

// Here is New.
func Here(func(string) string) *Resolver { return &Resolver{} }

// CheckOwn finds nothing to refuse: no command has run on this system.
func (*Resolver) CheckOwn(string) error { return nil }

// CheckReached finds nothing to refuse.
func (*Resolver) CheckReached(_, _ string) error { return nil }

// Resolve implements [plan.Resolver]: it always fails.
func (*Resolver) Resolve(name string) (plan.Object, error) {
	return plan.Object{}, errors.New("cannot resolve " + filepath.Clean(name) + ": this system is not supported")
}

// Find implements [plan.Resolver]: it always fails.
func (r *Resolver) Find(name string) (plan.Object, error) { return r.Resolve(name) }

// Inside implements [plan.Resolver]: it always fails.
func (r *Resolver) Inside(dir plan.Object, _ func(string) bool) ([]plan.Object, error) {
	_, err := r.Resolve(dir.Path)
	return nil, err
}
