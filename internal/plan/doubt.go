// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/ambit-sandbox/ambit/policy"
)

// A symbolic link that a sandboxed command could have made must not choose
// what the next run is granted. With the policy
//
//	write /p, write /p/build
//
// a command can replace the directory /p/build by a link to the user's home.
// So a link is doubtful where this policy lets commands write, and where an
// earlier run could ([Link]). A grant that leads through a doubtful link must
// lead to what the other grants give anyway.

// ledGrant is a grant whose name leads through symbolic links.
type ledGrant struct {
	rule policy.PathRule
	obj  Object
	// place and listed are its indices in the compiler's lists.
	place, listed int
}

// doubtfulLink returns the first link that a command could have made, or "".
// tree holds all grants.
func doubtfulLink(links []Link, tree *Tree) string {
	for _, l := range links {
		if l.Doubtful || tree.Mode(l.Path) == Write {
			return l.Path
		}
	}
	return ""
}

// doubted builds the tree, without the grants that only a doubtful link leads
// to. Those of the built-in policies that read a tool's directory where it is
// present are left out, and reported; any other one is an error.
func (c *compiler) doubted(workDir Object) (*Tree, error) {
	c.pinReads(c.tree(c.places))
	all := c.tree(c.places)
	doubtful := map[int]string{} // the link, by the grant's place
	for _, g := range c.led {
		if link := doubtfulLink(g.obj.Links, all); link != "" {
			doubtful[g.place] = link
		}
	}
	link := doubtfulLink(workDir.Links, all)
	if len(doubtful) == 0 && link == "" {
		return all, nil
	}
	sure := c.tree(c.placesBut(doubtful))
	if link != "" && sure.Mode(workDir.Path) < Read {
		return nil, ledAway(policy.PathRule{Path: workDir.Path, Kind: policy.Read, Origin: "work_dir"}, link)
	}
	return c.without(doubtful, all, sure)
}

// without takes out the doubtful grants that give more than the sure tree.
func (c *compiler) without(doubtful map[int]string, all, sure *Tree) (*Tree, error) {
	out := map[int]string{}
	for _, g := range c.led {
		link := doubtful[g.place]
		if link == "" || sure.Mode(g.obj.Path) >= min(grants(g.rule.Kind), all.Mode(g.obj.Path)) {
			continue
		}
		if !g.rule.Builtin || g.rule.Kind == policy.Write {
			return nil, ledAway(g.rule, link)
		}
		out[g.place] = link
		l := &c.listed[g.listed]
		l.Status, l.Err = Untrusted, ledAway(g.rule, link)
	}
	if len(out) == 0 {
		return all, nil
	}
	c.places = c.placesBut(out)
	return c.tree(c.places), nil
}

// placesBut returns the places without those of some indices.
func (c *compiler) placesBut(out map[int]string) []place {
	kept := make([]place, 0, len(c.places))
	for i, p := range c.places {
		if out[i] == "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// pinReads keeps the links as they are that lead to a place which is granted
// for reading within one for writing. Replaced, such a link would no longer
// take the writing away.
func (c *compiler) pinReads(all *Tree) {
	for _, g := range c.led {
		if g.rule.Kind == policy.Read && !g.rule.Builtin && all.Mode(g.obj.Path) < all.above(g.obj.Path) {
			c.pin(g.obj.Links, g.rule)
		}
	}
}

func ledAway(rule policy.PathRule, link string) error {
	return &PathError{rule, "it leads through the symbolic link " + link + ", which a sandboxed command could have made or changed; " +
		"list what it leads to itself, by a name without that link, or remove the link", nil}
}
