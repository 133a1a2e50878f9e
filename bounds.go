// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"slices"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// policies are a command's policy and what bounds it, resolved.
type policies struct {
	asked, bound *policy.Resolved // bound is nil if there is none
	effective    *policy.Resolved // what of asked the bound leaves, but for paths
	layers       []policy.Layer   // of both, as they were given
}

// resolve resolves a command's layers and bounds. Both speak of the same
// default folder: the bound's ${WORK_DIR} is never one that a layer chose.
func resolve(c *Command, tmp string) (*policies, error) {
	asked, err := resolveLayers(c, c.Layers, tmp)
	if err != nil || c.Bounds == nil {
		return &policies{asked: asked, effective: asked, layers: c.Layers}, err
	}
	bound, err := resolveLayers(c, c.Bounds, tmp)
	if err != nil {
		return nil, err
	}
	p := &policies{asked: asked, bound: bound, layers: slices.Concat(c.Layers, c.Bounds)}
	p.effective, err = policy.Narrow(asked, bound, tmp)
	return p, err
}

// compile makes the plan of what is asked within what may be had, without what
// of Ambit's own the command could else write.
func (p *policies) compile(n *names) (*plan.Plan, error) {
	if err := n.trust("HOME", n.home); err != nil {
		return nil, err
	}
	made, err := p.within(n.host, nil)
	if err != nil {
		return nil, err
	}
	own, err := n.own(made.Tree, p.layers...)
	if err != nil {
		return nil, err
	}
	git, err := n.git(made.Tree, made.WorkDir.Path, p.asked, p.bound)
	if err != nil {
		return nil, err
	}
	if len(own)+len(git) == 0 {
		return made, nil
	}
	return p.within(n.host, slices.Concat(own, git))
}

// within makes the plan, with some more rules.
func (p *policies) within(host plan.Resolver, more []policy.PathRule) (*plan.Plan, error) {
	if p.bound == nil {
		asked := *p.asked
		asked.Rules = slices.Concat(asked.Rules, more)
		return plan.Compile(&asked, asked.TmpDir, host)
	}
	// What is missing or unreadable is not told before it is known that it
	// may be asked for.
	lenient := *p.effective
	lenient.Strict = false
	lenient.Rules = slices.Concat(lenient.Rules, more)
	asked, err := plan.Compile(&lenient, lenient.TmpDir, host)
	if err != nil {
		return nil, err
	}
	most := *p.bound
	most.Rules = slices.Concat(most.Rules, more)
	bound, err := plan.Compile(&most, p.effective.TmpDir, host)
	if err != nil {
		return nil, err
	}
	within, err := plan.Intersect(asked, bound)
	if err == nil && p.effective.Strict {
		err = within.AllPresent()
	}
	return within, err
}

// digests identify what was asked and what bounded it.
func (p *policies) digests() (asked, bound string) {
	if p.bound != nil {
		bound = policy.Digest(p.bound)
	}
	return policy.Digest(p.asked), bound
}
