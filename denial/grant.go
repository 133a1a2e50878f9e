// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ambit-sandbox/ambit/policy"
)

// Grant is the least change of a policy that lets a refused call through. It
// is worked out, not tried. With neither Flag nor Policy it only says why there
// is none.
type Grant struct {
	// Flag is what to add to `ambit run`, quoted for a shell.
	Flag string `json:"flag,omitempty"`
	// Policy is what to add to a policy file; nil where JSON can't hold the
	// path.
	Policy *policy.Policy `json:"policy,omitempty"`
	// Keep says why it may be better not to.
	Keep string `json:"keep,omitempty"`
}

// GrantFor works out the least grant for a denial: nil if no grant of a policy
// has to do with it. A grant names the object that was wanted. Where something
// on the way to that is missing, it names the topmost missing name.
func GrantFor(d *Denial, on *Places) *Grant {
	switch r := d.Rule; {
	case d.Access == "" || d.Reason != "":
		return nil
	case r == nil || r.Kind == policy.Read && d.Access == Write:
		return forPath(d, on)
	case r.Kind == policy.BlockedWrite && r.Builtin:
		return forProtection(r)
	case r.Kind == policy.Blocked, r.Kind == policy.BlockedWrite:
		return &Grant{Keep: "it was closed on purpose, by " + r.Origin + "; a block wins over every grant, so it can only be taken out there"}
	}
	return nil
}

func forProtection(r *policy.PathRule) *Grant {
	_, name, _ := strings.Cut(r.Origin, ", ")
	for _, p := range policy.Protections {
		if p.Name == name {
			return &Grant{Flag: "--unprotect " + name, Policy: &policy.Policy{Unprotect: []string{name}}, Keep: p.Doc}
		}
	}
	return nil
}

func forPath(d *Denial, on *Places) *Grant {
	if !path.IsAbs(d.Object) || d.Object == "/" {
		return nil
	}
	name, keep := on.wanted(d)
	if why := on.tooMuch(name); why != "" {
		return &Grant{Keep: "a grant of " + quote(name) + " would open " + why}
	}
	g := grantPath(name, d.Access)
	g.Keep = keep
	return g
}

// grantPath grants an access to one path.
func grantPath(name string, a Access) *Grant {
	g := &Grant{Flag: "--" + string(a) + " " + quote(name)}
	if list := []string{policy.Literal(name)}; !utf8.ValidString(name) {
	} else if a == Write {
		g.Policy = &policy.Policy{WritePaths: list}
	} else {
		g.Policy = &policy.Policy{ReadPaths: list}
	}
	return g
}
