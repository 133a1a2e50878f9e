// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/sha256"
)

// Digest names a resolved policy: "sha256:" and 64 hexadecimal digits. Equal
// policies have equal digests, on every host and in every version whose
// digestVersion is the same; the place of the private temporary folder, which
// each run has anew, does not count. The sources of secrets do, their values
// are not known here.
func Digest(r *Resolved) string {
	c := canonical{tmp: r.TmpDir}
	c.str(digestVersion)
	c.list(len(r.Rules), func(i int) {
		rule := r.Rules[i]
		if rule.Pattern { // in which the folder's name is escaped too
			c.pathBelow(Literal(c.tmp), rule.Path)
			c.str(string(rule.Kind) + " pattern")
		} else {
			c.path(rule.Path)
			c.str(string(rule.Kind))
		}
		c.str(rule.Origin)
		c.flag(rule.Builtin)
	})
	c.path(r.WorkDir)
	c.flag(r.AllowNetwork)
	c.flag(r.PrivateTmp)
	c.flag(r.Strict)
	c.list(len(r.Env.Pass), func(i int) { c.str(r.Env.Pass[i]) })
	names := slices.Sorted(maps.Keys(r.Env.Set))
	c.list(len(names), func(i int) {
		c.str(names[i])
		c.text(r.Env.Set[names[i]])
	})
	secrets := slices.Sorted(maps.Keys(r.Secrets))
	c.list(len(secrets), func(i int) {
		c.str(secrets[i])
		c.secret(r.Secrets[secrets[i]])
	})
	c.limits(r.Limits)
	c.list(len(r.Accept), func(i int) { c.str(r.Accept[i]) })
	sum := sha256.Sum(c.b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// digestVersion changes whenever the canonical form does.
const digestVersion = "ambit policy 1"

// canonical builds a form in which no two policies look the same: strings
// carry their length, lists their count. JSON will not do, since a path may
// hold any bytes.
type canonical struct {
	b   []byte
	tmp string
}

func (c *canonical) str(s string) {
	c.b = binary.AppendUvarint(c.b, uint64(len(s)))
	c.b = append(c.b, s...)
}

// path writes a path without the place of the temporary folder. What stands in
// for it cannot be part of a path or a variable's value.
func (c *canonical) path(s string) { c.pathBelow(c.tmp, s) }

func (c *canonical) pathBelow(tmp, s string) {
	if rest, ok := strings.CutPrefix(s, tmp); ok && tmp != "" && (rest == "" || rest[0] == '/') {
		s = "\x00" + rest
	}
	c.str(s)
}

// text does the same for a variable's value, which may hold the path anywhere.
func (c *canonical) text(s string) {
	if c.tmp != "" {
		s = strings.ReplaceAll(s, c.tmp, "\x00")
	}
	c.str(s)
}

func (c *canonical) flag(b bool) {
	if b {
		c.b = append(c.b, 1)
		return
	}
	c.b = append(c.b, 0)
}

func (c *canonical) list(n int, item func(i int)) {
	c.b = binary.AppendUvarint(c.b, uint64(n))
	for i := range n {
		item(i)
	}
}

// number writes an optional number.
func (c *canonical) number(n *int64) {
	c.flag(n != nil)
	if n != nil {
		c.b = binary.AppendVarint(c.b, *n)
	}
}

func (c *canonical) secret(s Secret) {
	c.path(s.File)
	c.str(s.Env)
	var fd *int64
	if s.FD != nil {
		n := int64(*s.FD)
		fd = &n
	}
	c.number(fd)
}

func (c *canonical) limits(l Limits) {
	c.number((*int64)(l.Timeout))
	for _, a := range l.amounts() {
		c.number(*a.value)
	}
}
