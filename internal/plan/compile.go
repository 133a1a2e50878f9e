// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"path"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/policy"
)

// Plan is what a run must enforce.
type Plan struct {
	Tree *Tree
	// Listed is the fate of every listed path, in the policy's order.
	Listed []Listed
	// WorkDir is the command's working directory.
	WorkDir Object
	Network Network
	// PrivateTmp is the run's own temporary folder, or empty.
	PrivateTmp string
	// Places are folders, missing ones too, in which the run may keep things
	// of its own; the best first. They are no part of the policy. The default
	// is that it keeps none.
	Places []string
	// Unfound are the blocks, by the subject of their [Ask], that close a file
	// which may have more names in what is granted than were found.
	Unfound map[string]bool
	// Cgroup is what the run's control group bounds; compiling leaves it alone.
	Cgroup Cgroup
	Limits policy.Limits
	// Accept names the items that may stay unenforced.
	Accept map[string]bool
}

// Network is what the plan allows of the network.
type Network string

const (
	NoNetwork   Network = "none"
	OpenNetwork Network = "open"
)

// Compile makes the plan of a resolved policy. tmp is the run's private
// temporary folder, or empty. The error is a *[PathError] for a path that the
// policy can't do without.
func Compile(r *policy.Resolved, tmp string, host Resolver) (*Plan, error) {
	p := &Plan{Network: NoNetwork, PrivateTmp: tmp, Limits: r.Limits, Accept: map[string]bool{}}
	if r.AllowNetwork {
		p.Network = OpenNetwork
	}
	for _, a := range r.Accept {
		p.Accept[a] = true
	}
	c := compiler{host: host, strict: r.Strict}
	var err error
	if p.WorkDir, err = c.workDir(r.WorkDir); err != nil {
		return nil, err
	}
	for _, rule := range r.Rules {
		place := c.place
		if rule.Pattern {
			place = c.pattern
		}
		if err := place(rule); err != nil {
			return nil, err
		}
	}
	if p.Tree, err = c.doubted(p.WorkDir); err != nil {
		return nil, err
	}
	c.closeLinks(p)
	c.settle(p.Tree)
	p.Listed = c.listed
	if n := p.Tree.Find(p.WorkDir.Path); n != nil && n.Mode == None {
		return nil, &PathError{Rule: n.Rule, Reason: "it closes the working directory " + p.WorkDir.Path + "; choose another one or unblock it"}
	}
	return p, nil
}

// compiler gathers what the listed paths say of each place.
type compiler struct {
	host   Resolver
	strict bool
	listed []Listed
	places []place
	known  map[string]Object
	// missing are the indices in listed of write grants where nothing stands.
	missing []int
	// led are the grants that links lead to.
	led []ledGrant
	// patterns are those of block entries.
	patterns []Pattern
}

// place is one statement on one canonical name.
type place struct {
	path string
	rule policy.PathRule
}

// place puts a listed path into the plan, under its canonical name and, for
// a block, also under the name the user wrote: where that runs through a
// symbolic link, the link may be replaced later by what it must not become.
func (c *compiler) place(rule policy.PathRule) error {
	grant := rule.Kind == policy.Read || rule.Kind == policy.Write
	var (
		obj Object
		err error
	)
	switch {
	case !grant:
		b, here := c.block(rule)
		if !here {
			return nil
		}
		rule, obj, err = b.rule, b.obj, b.err
	case rule.Builtin: // most built-in paths are absent on any one host
		obj, err = c.host.Find(rule.Path)
	default:
		obj, err = c.host.Resolve(rule.Path)
	}
	l := Listed{PathRule: rule, Canonical: obj.Path, Status: Enforced}
	switch {
	case err != nil && !grant:
		// Dropping a block would be weaker than asked for; keeping it under
		// a name that may not be the object's own would be a guess.
		return &PathError{rule, "it can't be looked up, so what to close is not known", err}
	case err != nil:
		l.Status, l.Err, l.Canonical = Unreadable, err, path.Clean(rule.Path)
	case !obj.Exists:
		l.Status = Missing
	}
	if l.Status != Enforced && c.strict && !rule.Builtin {
		return &PathError{rule, "it is " + string(l.Status) + " (strict mode)", l.Err}
	}
	if l.Status == Enforced || !rule.Builtin {
		c.listed = append(c.listed, l)
	}
	creates := l.Status == Missing && rule.Kind == policy.Write && !rule.Builtin
	if creates {
		c.missing = append(c.missing, len(c.listed)-1)
	}
	held := l.Status == Enforced || creates
	if held || !grant {
		c.add(obj, rule)
	}
	if held && grant && len(obj.Links) > 0 {
		c.led = append(c.led, ledGrant{rule, obj, len(c.places) - 1, len(c.listed) - 1})
	}
	if !grant {
		c.pin(obj.Links, rule)
	}
	if name := path.Clean(rule.Path); !grant && name != obj.Path && !climbs(rule.Path) {
		c.add(Object{Path: name}, rule)
	}
	return nil
}

// pattern puts a pattern into the plan, below the canonical name of its base
// and below the one that the user wrote, as with other blocks.
func (c *compiler) pattern(rule policy.PathRule) error {
	said := policy.ParsePattern(rule.Path)
	base, err := c.host.Resolve(said.Base)
	switch {
	case rule.Builtin && err == nil && !base.Exists && !c.standsIn(said.Base),
		rule.Builtin && errors.Is(err, syscall.ENOTDIR): // the block beside it concerns what is no folder
		return nil
	case err != nil:
		return &PathError{rule, "its folder can't be looked up, so what to close is not known", err}
	case !base.Exists && c.strict:
		return &PathError{rule, "its folder is " + string(Missing) + " (strict mode)", nil}
	}
	l := Listed{PathRule: rule, Canonical: patternPath(base.Path, said), Status: Enforced}
	if !base.Exists {
		l.Status = Missing
	}
	c.listed = append(c.listed, l)
	c.patterns = append(c.patterns, newPattern(base.Path, said, rule))
	c.pin(base.Links, rule)
	if name := path.Clean(said.Base); name != base.Path && !climbs(said.Base) {
		c.patterns = append(c.patterns, newPattern(name, said, rule))
	}
	return nil
}

// pin keeps the links on the way to a blocked place as they are: one that
// could be replaced would lead its name elsewhere.
func (c *compiler) pin(links []Link, rule policy.PathRule) {
	rule.Kind = policy.BlockedWrite
	for _, l := range links {
		c.add(Object{Path: l.Path}, rule)
	}
}

// climbs reports whether a name has a ".." in it. What that leads to behind a
// link only the host knows, so such a name has no lexical form to guard.
func climbs(name string) bool { return strings.Contains(name+"/", "/../") }

func (c *compiler) add(obj Object, rule policy.PathRule) {
	if c.known == nil {
		c.known = map[string]Object{}
	}
	c.places = append(c.places, place{obj.Path, rule})
	if old, seen := c.known[obj.Path]; !seen || !old.Exists {
		c.known[obj.Path] = obj
	}
}

// workDir looks the working directory up. It need not be granted: a command
// may stand in a folder that it can't read.
func (c *compiler) workDir(dir string) (Object, error) {
	rule := policy.PathRule{Path: dir, Kind: policy.Read, Origin: "work_dir"}
	obj, err := c.host.Resolve(dir)
	switch {
	case err != nil:
		err = &PathError{rule, "it can't be looked up", err}
	case !obj.Exists:
		err = &PathError{rule, "it does not exist", nil}
	case !obj.Dir:
		err = &PathError{rule, "it is not a folder", nil}
	default:
		if _, closed := c.host.Find(dir + "/."); closed != nil {
			err = &PathError{rule, "it can't be entered", closed}
		}
	}
	return obj, err
}

// tree decides the mode of every place that a statement names.
func (c *compiler) tree(places []place) *Tree {
	at := map[string][]policy.PathRule{}
	for _, pl := range places {
		at[pl.path] = append(at[pl.path], pl.rule)
	}
	nodes := make([]Node, 0, len(at))
	for name := range at {
		mode, rule := decide(name, at)
		nodes = append(nodes, Node{Path: name, Mode: mode, Rule: rule, Object: c.known[name]})
	}
	return newTree(nodes, c.patterns)
}
