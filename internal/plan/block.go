// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"path"
	"syscall"

	"github.com/ambit-sandbox/ambit/policy"
)

// block is what a block's path turned out to be.
type block struct {
	rule policy.PathRule
	obj  Object
	err  error
}

// block looks a block's path up. here is false for a built-in one that does
// not concern this host: the folder that its place would stand in is missing.
func (c *compiler) block(rule policy.PathRule) (b block, here bool) {
	b = block{rule: rule}
	b.obj, b.err = c.host.Resolve(rule.Path)
	b.climb(c.host)
	return b, b.err != nil || b.obj.Exists || !rule.Builtin || c.standsIn(rule.Path)
}

// standsIn reports whether the folder that a missing name would stand in is
// there, or may be.
func (c *compiler) standsIn(name string) bool {
	folder, err := c.host.Resolve(path.Dir(name))
	return err != nil || folder.Exists && folder.Dir
}

// climb goes up from a name that can't be, because something on the way to it
// is not a folder (.git is a file in a linked worktree, gitrepository-layout(5)).
// What must not change then is that: with a folder in its place the name could
// be.
func (b *block) climb(host Resolver) {
	for errors.Is(b.err, syscall.ENOTDIR) && b.rule.Path != "/" {
		b.rule.Path, b.rule.Kind = path.Dir(b.rule.Path), policy.BlockedWrite
		b.obj, b.err = host.Resolve(b.rule.Path)
	}
}
