// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strings"
)

// merge puts a layer on top of what the layers below it have given. Paths are
// still as written; lists grow, single values are replaced.
func (m *merged) merge(layer Layer, builtin origin) {
	p := layer.Policy
	for _, list := range p.pathLists() {
		for i, path := range list.paths {
			m.rules = append(m.rules, rule{place{path, list.field, i, layer.Name}, list.kind, builtin})
		}
	}
	if p.WorkDir != "" {
		m.workDir = place{p.WorkDir, "work_dir", noIndex, layer.Name}
	}
	override(&m.allowNetwork, p.AllowNetwork)
	override(&m.privateTmp, p.PrivateTmp)
	override(&m.strict, p.Strict)
	if p.Env != nil {
		m.mergeEnv(*p.Env, layer.Name, builtin)
	}
	for name, secret := range p.Secrets {
		m.drop(name)
		override(&secret.FD, secret.FD) // a copy, so that nothing is shared
		m.secrets[name] = ownedSecret{secret, layer.Name}
	}
	if p.Limits != nil {
		m.limits.override(*p.Limits)
	}
	m.unprotect = append(m.unprotect, p.Unprotect...)
	m.accept = append(m.accept, p.Accept...)
}

// origin says whether a layer is built in.
type origin int

const (
	fromUser origin = iota
	fromBuiltin
)

// rule is a path rule before its variables are replaced.
type rule struct {
	place
	kind    Kind
	builtin origin
}

// place is a path and where it was written: the field, its element in a list,
// and the layer. The parts are put together only for an error.
type place struct {
	path  string
	list  string
	index int
	layer string
}

const noIndex = -1

func (p place) field() string {
	if p.index == noIndex {
		return p.list
	}
	return element(p.list, p.index)
}

// value is a variable's value; a built-in one may hold variables.
type value struct {
	text    string
	builtin origin
}

type ownedSecret struct {
	Secret
	layer string
}

// merged is the union of the layers so far.
type merged struct {
	rules                            []rule
	workDir                          place
	allowNetwork, privateTmp, strict *bool
	pass                             []string
	set                              map[string]value
	secrets                          map[string]ownedSecret
	limits                           Limits
	unprotect, accept                []string
}

// mergeEnv lets the last layer that speaks of a variable decide where its
// value comes from. That includes a Pass of the exact name: whoever asks for
// his own XDG_CACHE_HOME does not mean the built-in one. A pattern is no such
// wish.
func (m *merged) mergeEnv(env Env, layer string, builtin origin) {
	m.pass = append(m.pass, env.Pass...)
	for _, name := range env.Pass {
		if !strings.HasSuffix(name, "*") {
			m.drop(name)
		}
	}
	for name, text := range env.Set {
		m.drop(name)
		m.set[name] = value{text, builtin}
	}
}

// drop forgets the value that a lower layer gave a variable.
func (m *merged) drop(name string) {
	delete(m.set, name)
	delete(m.secrets, name)
}

// override replaces a value by one that a higher layer sets.
func override[T any](below **T, above *T) {
	if above != nil {
		v := *above
		*below = &v
	}
}

func (l *Limits) override(above Limits) {
	override(&l.Timeout, above.Timeout)
	mine, theirs := l.amounts(), above.amounts()
	for i := range mine {
		override(mine[i].value, *theirs[i].value)
	}
}

// sortedSet gives the list in order and without doubles; nil if it is empty.
func sortedSet(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	sorted := slices.Clone(list)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
