// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/backend/all"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/policy"
)

// Preview is what a command's policy comes to on this host, without running
// anything.
type Preview struct {
	// Digest identifies the resolved policy.
	Digest string `json:"policy_digest"`
	// Tree is the path tree: the nearest place at or above a path decides
	// what the command may do with it; where there is none, nothing.
	Tree []Place `json:"tree"`
	// Paths are the listed paths, without built-in ones that are absent.
	Paths   []PathReceipt `json:"paths"`
	WorkDir string        `json:"work_dir"`
	// Network is "none" or "open".
	Network    string `json:"network"`
	PrivateTmp bool   `json:"private_tmp"`
	// EnvPass are the names and patterns that pass, EnvSet the variables
	// that are set, Secrets the names of the secret ones.
	EnvPass []string          `json:"env_pass,omitempty"`
	EnvSet  map[string]string `json:"env_set,omitempty"`
	Secrets []string          `json:"secrets,omitempty"`
	Limits  policy.Limits     `json:"limits"`

	// Backend would run the command; empty if none can, and Unavailable then
	// says why.
	Backend     string         `json:"backend,omitempty"`
	Unavailable string         `json:"unavailable,omitempty"`
	Coverage    []CoverageLine `json:"coverage,omitempty"`
}

// Place is a node of the path tree.
type Place struct {
	Path string `json:"path"`
	// Mode is "none", "read" or "write".
	Mode string `json:"mode"`
	// Rule is the listed path that decides, with its kind and origin.
	Rule   string      `json:"rule"`
	Kind   policy.Kind `json:"kind"`
	Origin string      `json:"origin"`
	// Pattern: Path is a pattern, and Mode the most that it leaves to what it
	// matches.
	Pattern bool `json:"pattern,omitempty"`
}

// Inspect resolves and plans a command's policy on this host. A host that
// can't enforce it is no error here. The error is an [ErrPolicy].
func Inspect(c *Command) (*Preview, error) {
	policies, err := resolve(c, "/tmp/ambit-private")
	if err != nil {
		return nil, &policyError{err}
	}
	p, err := policies.compile(namesFor(c.environ()))
	if err != nil {
		return nil, setupError("", err)
	}
	resolved := policies.effective
	v := &Preview{
		Digest: policy.Digest(policies.asked), Paths: listedPaths(p), WorkDir: p.WorkDir.Path,
		Network: string(p.Network), PrivateTmp: resolved.PrivateTmp,
		EnvPass: resolved.Env.Pass, EnvSet: resolved.Env.Set, Secrets: secretNames(resolved),
		Limits: resolved.Limits,
	}
	for _, n := range p.Tree.Nodes() {
		v.Tree = append(v.Tree, Place{n.Path, n.Mode.String(), n.Rule.Path, n.Rule.Kind, n.Rule.Origin, false})
	}
	for _, l := range p.Listed {
		if l.Pattern {
			v.Tree = append(v.Tree, patternPlace(l))
		}
	}
	v.choose(p)
	return v, nil
}

// patternPlace is how a pattern stands in the tree. It takes away from what is
// below it, and grants nothing.
func patternPlace(l plan.Listed) Place {
	mode := plan.None
	if l.Kind == policy.BlockedWrite {
		mode = plan.Read
	}
	return Place{l.Canonical, mode.String(), l.Path, l.Kind, l.Origin, true}
}

func (v *Preview) choose(p *plan.Plan) {
	facts, err := probe.Quick()
	if err != nil {
		v.Unavailable = err.Error()
		return
	}
	candidates := all.Backends()
	choice, err := backend.Select(candidates, p, facts)
	if err == nil {
		v.Backend, v.Coverage = choice.Backend.Name(), coverageOf(choice.Coverage)
		if !choice.Backend.Creates(facts) {
			p.NothingNew()
			v.Paths = listedPaths(p)
		}
		return
	}
	v.Unavailable = err.Error()
	if len(candidates) > 0 {
		if c, err := candidates[0].Assess(p, facts); err == nil {
			v.Coverage = coverageOf(c)
		}
	}
}
