// SPDX-License-Identifier: Apache-2.0

package plan

// A write grant of a name that nothing stands under is a place too. The command
// may make what stands there, and nothing else in the directory around it:
//
//	write /h/a/b, and /h is empty   ->   /h/a: may be made, as a directory
//	                                     /h/a/b and below: all that write means
//	                                     /h/c, /h/a/c: nothing

// NewPlace is a writable place in a directory that is not writable, where
// nothing stood when the plan was made. No Landlock rule can say it: a rule is
// on an object (landlock_add_rule(2)).
type NewPlace struct {
	Node
	// Around is the mode of the directory that the place lies in.
	Around Mode
}

// NewPlaces returns the places of write grants that are missing, as far as the
// directory around them is not writable anyway, sorted by path. The slice must
// not be changed.
func (t *Tree) NewPlaces() []NewPlace { return t.newPlaces }

func (t *Tree) findNewPlaces() []NewPlace {
	var out []NewPlace
	for _, n := range t.nodes {
		up, ok := parent(n.Path)
		if ok && !n.Object.Exists && t.creatable(n.Path) && t.Mode(up) < Write {
			out = append(out, NewPlace{n, t.Mode(up)})
		}
	}
	return out
}

// creatable reports whether the command may make what is missing at a canonical
// path: it is writable, and no block names a directory that is missing on the
// way to it.
func (t *Tree) creatable(path string) bool {
	if t.Mode(path) < Write {
		return false
	}
	for p, ok := parent(path); ok; p, ok = parent(p) {
		if i, found := t.index[p]; found && !t.nodes[i].Object.Exists && grants(t.nodes[i].Rule.Kind) == None {
			return false
		}
	}
	return true
}

// settle says of the write grants that are missing which of them the command
// can make. The places of the others stay, and have no effect.
func (c *compiler) settle(t *Tree) {
	for _, i := range c.missing {
		if l := &c.listed[i]; t.creatable(l.Canonical) {
			l.Status = Creatable
		}
	}
}

// NothingNew says that on this host the command can't make what is listed and
// missing in a directory that is not writable.
func (p *Plan) NothingNew() {
	below := map[string]bool{}
	for _, n := range p.Tree.NewPlaces() {
		below[n.Path] = true
	}
	for i := range p.Listed {
		for at, ok := p.Listed[i].Canonical, p.Listed[i].Status == Creatable; ok; at, ok = parent(at) {
			if below[at] {
				p.Listed[i].Status = Missing
				break
			}
		}
	}
}
