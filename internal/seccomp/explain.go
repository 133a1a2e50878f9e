// SPDX-License-Identifier: Apache-2.0

package seccomp

import "slices"

// Rule is one line of the table of reasons.
type Rule struct {
	// Calls are the names of the calls it holds for, on any architecture.
	Calls []string
	// When says in words which arguments it holds for; empty for all.
	When string
	// Verdict and, for Refuse, Errno are what the filter answers.
	Verdict Verdict
	Errno   Errno
	// Reason says why, Source where the kernel's behaviour or the errno is
	// documented.
	Reason, Source string
}

// Rules lists the rules that a Config puts in force. Of several for one call,
// the first that holds decides; a known call for which none holds is allowed.
// It fails with *ConfigError.
func Rules(c Config) ([]Rule, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var list []Rule
	for _, group := range active(c) {
		for i := range group {
			list = append(list, group[i].public())
		}
	}
	return list, nil
}

// Explain lists, in order, the rules that decide the call of a number. None
// means that it is allowed whatever its arguments. A number that the table
// does not know has one rule, without calls. It fails with *ArchError or
// *ConfigError.
func Explain(archName string, c Config, nr uint32) ([]Rule, error) {
	if _, err := parseArch(archName); err != nil {
		return nil, err
	}
	all, err := Rules(c)
	if err != nil {
		return nil, err
	}
	name, ok := Name(archName, nr)
	if !ok {
		return []Rule{unknownRule}, nil
	}
	return slices.DeleteFunc(all, func(r Rule) bool { return !slices.Contains(r.Calls, name) }), nil
}

// unknownRule speaks for every number that is not in the table.
var unknownRule = Rule{
	When:    "the number is not in the table of known calls",
	Verdict: Refuse,
	Errno:   ENOSYS,
	Reason:  "a call that nobody has looked at yet; callers take the answer of an older kernel and do without",
	Source:  "syscalls(2); intro(2): ENOSYS",
}

func (r *rule) public() Rule {
	p := Rule{When: r.when, Verdict: r.then, Reason: r.reason, Source: r.source}
	if r.then == Refuse {
		p.Errno = r.errno
	}
	for _, c := range r.calls {
		p.Calls = append(p.Calls, calls[c].name)
	}
	return p
}
