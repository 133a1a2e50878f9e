// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"
	"strings"
)

// Narrow returns what of the policy asked a bound leaves, but for paths: its
// rules are those of asked, to be held against the bound's where they can be
// looked up. tmp is the name that a private temporary folder has in both.
//
//   - The network is there if both want it. Asking for it where the bound has
//     none, or for a limit above the bound's, is an error ([*Error]): nobody is
//     silently given less.
//   - The private temporary folder is there if both want it; an item may stay
//     unenforced if both accept that.
//   - A variable passes if both let it. What the bound sets is set, and wins.
//   - A limit that is not asked for is the bound's.
//   - A secret is read only from where the bound would read it: its source is
//     opened with the caller's rights. Another one is an error ([*Error]).
func Narrow(asked, bound *Resolved, tmp string) (*Resolved, error) {
	if err := beyond(asked, bound); err != nil {
		return nil, err
	}
	n := &Resolved{
		Rules: asked.Rules, WorkDir: asked.WorkDir,
		AllowNetwork: asked.AllowNetwork && bound.AllowNetwork,
		PrivateTmp:   asked.PrivateTmp && bound.PrivateTmp,
		Strict:       asked.Strict,
		Env:          Env{Pass: passBoth(asked.Env.Pass, bound.Env.Pass), Set: maps.Clone(asked.Env.Set)},
		Limits:       asked.Limits.narrow(bound.Limits),
	}
	for _, item := range asked.Accept {
		if slices.Contains(bound.Accept, item) {
			n.Accept = append(n.Accept, item)
		}
	}
	if n.Env.Set == nil {
		n.Env.Set = map[string]string{}
	}
	maps.Copy(n.Env.Set, bound.Env.Set)
	if n.PrivateTmp {
		n.TmpDir = tmp
	} else {
		n.withoutTmp(tmp)
	}
	var err error
	n.Secrets, err = narrowSecrets(asked.Secrets, bound)
	for name := range n.Secrets {
		delete(n.Env.Set, name)
	}
	return n, err
}

// withoutTmp leaves out what speaks of a temporary folder that is not made:
// the rule for it, and variables that name it.
func (r *Resolved) withoutTmp(tmp string) {
	r.Rules = slices.DeleteFunc(slices.Clone(r.Rules), func(rule PathRule) bool {
		return tmp != "" && rule.Builtin && !rule.Pattern && rule.Path == tmp
	})
	maps.DeleteFunc(r.Env.Set, func(_, text string) bool { return tmp != "" && strings.Contains(text, tmp) })
}

// narrowSecrets keeps the secrets that are the bound's too. What the bound
// sets is no secret to be set by somebody else.
func narrowSecrets(asked map[string]Secret, bound *Resolved) (map[string]Secret, error) {
	kept := map[string]Secret{}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		have, ok := bound.Secrets[name]
		if !ok || !sameSource(asked[name], have) {
			return nil, &Error{Field: member("secrets", name),
				Msg:  "the policy asks for more than is allowed here: the secret " + quote(name) + " from that source",
				Hint: "leave it out"}
		}
		kept[name] = have
	}
	return kept, nil
}

func sameSource(a, b Secret) bool {
	if (a.FD == nil) != (b.FD == nil) || a.FD != nil && *a.FD != *b.FD {
		return false
	}
	return a.File == b.File && a.Env == b.Env
}

// passBoth lists the names and patterns by which a variable passes both lists.
func passBoth(a, b []string) []string {
	var both []string
	for _, x := range a {
		for _, y := range b {
			if name, ok := passCommon(x, y); ok {
				both = append(both, name)
			}
		}
	}
	return sortedSet(both)
}

// passCommon is what two entries have in common: a "*" at the end stands for
// any rest, so of two that fit, it is the longer one.
func passCommon(x, y string) (string, bool) {
	px, starX := strings.CutSuffix(x, "*")
	py, starY := strings.CutSuffix(y, "*")
	switch {
	case starY && strings.HasPrefix(px, py):
		return x, true
	case starX && strings.HasPrefix(py, px):
		return y, true
	}
	return x, x == y
}

// narrow returns the smaller of each limit.
func (l Limits) narrow(bound Limits) Limits {
	lesser(&l.Timeout, bound.Timeout)
	mine, theirs := l.amounts(), bound.amounts()
	for i := range mine {
		lesser(mine[i].value, *theirs[i].value)
	}
	return l
}

// lesser makes a limit the smaller one of two, without changing what it
// pointed to.
func lesser[T ~int64](mine **T, bound *T) {
	if bound != nil && (*mine == nil || *bound < **mine) {
		v := *bound
		*mine = &v
	}
}
