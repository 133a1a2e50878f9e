// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"runtime"
	"testing"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/backend/all"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
	"github.com/ambit-sandbox/ambit/policy"
)

// The stages of the supervisor's preparation, each alone and warm, with the
// default policy of this user on this host.

func resolved(tb testing.TB) *policy.Resolved {
	r, err := ambit.Resolve(&ambit.Command{Dir: tb.TempDir()}, os.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func compiled(tb testing.TB) (*plan.Plan, *probe.Facts) {
	p, err := plan.Compile(resolved(tb), os.TempDir(), hostpath.New())
	if err != nil {
		tb.Fatal(err)
	}
	f, err := probe.Quick()
	if err != nil {
		tb.Fatal(err)
	}
	return p, f
}

func BenchmarkResolve(b *testing.B) {
	c := &ambit.Command{Dir: b.TempDir()}
	for b.Loop() {
		if _, err := ambit.Resolve(c, os.TempDir()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDigest(b *testing.B) {
	r := resolved(b)
	for b.Loop() {
		policy.Digest(r)
	}
}

func BenchmarkPlan(b *testing.B) {
	r := resolved(b)
	for b.Loop() {
		if _, err := plan.Compile(r, os.TempDir(), hostpath.New()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProbe(b *testing.B) {
	for b.Loop() {
		if _, err := probe.Quick(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	p, f := compiled(b)
	for b.Loop() {
		if _, err := backend.Select(all.Backends(), p, f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConfine(b *testing.B) {
	p, f := compiled(b)
	for b.Loop() {
		c, err := all.Backends()[0].Confine(p, f, nil)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

func BenchmarkFilter(b *testing.B) {
	for b.Loop() {
		if _, err := seccomp.Compile(runtime.GOARCH, seccomp.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}
