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
// has to do with it. exists reports whether there is something at a path; what
// is missing can be granted only with the folder around it.
func GrantFor(d *Denial, exists func(name string) bool) *Grant {
	switch r := d.Rule; {
	case d.Access == "" || d.Reason != "":
		return nil
	case r == nil || r.Kind == policy.Read && d.Access == Write:
		return forPath(d, exists)
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

func forPath(d *Denial, exists func(string) bool) *Grant {
	name := d.Object
	g := &Grant{}
	for name != "" && !exists(name) {
		name = path.Dir(name)
		g.Keep = "it opens all of " + name
	}
	if !path.IsAbs(name) || name == "/" {
		return nil
	}
	g.Flag = "--" + string(d.Access) + " " + quote(name)
	if list := []string{policy.Literal(name)}; !utf8.ValidString(name) {
	} else if d.Access == Write {
		g.Policy = &policy.Policy{WritePaths: list}
	} else {
		g.Policy = &policy.Policy{ReadPaths: list}
	}
	return g
}

// quote makes a word of a shell: plain where it can be, and without a byte
// that a terminal could take for a command ("$'...'" as in Bash and POSIX 2024).
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("/._-+=:,@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	odd := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' || c >= 0x7f:
			odd = true
			const hex = "0123456789abcdef"
			b.WriteString(`\x` + string(hex[c>>4]) + string(hex[c&15]))
		case c == '\'' || c == '\\':
			odd = true
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	if odd {
		return "$'" + b.String() + "'"
	}
	return "'" + s + "'"
}
