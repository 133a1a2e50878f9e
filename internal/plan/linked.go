// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit/policy"
)

// A blocked file may have other names (link(2)), in directories that are
// granted. A rule on such a directory would give what the block takes away, so
// each name that is found becomes a block of its own:
//
//	write /p, block /p/f, and /p/e/h is /p/f   ->   block /p/e/h, too
//
// Nothing is searched for unless a blocked file has several names.

// LinkEntries and LinkTime bound the search for other names, that of all files
// together: files and directories that are looked at, and how long.
const (
	LinkEntries = 1_000_000
	LinkTime    = 30 * time.Second
)

type inode struct{ dev, ino uint64 }

func (o Object) inode() inode { return inode{o.Dev, o.Ino} }

// linked is a blocked file with several names.
type linked struct {
	// subjects are what blocks it, as in an [Ask].
	subjects []string
	limit    Mode
	rule     policy.PathRule
	// left is how many of its names were not found yet.
	left int
}

// linkName is one name of a file, by whatever path its directory was reached.
type linkName struct {
	in   inode
	base string
}

// linkSearch looks for other names of blocked files in what is granted.
type linkSearch struct {
	tree  *Tree
	host  Resolver
	files map[inode]*linked
	// devices are those of the directories that the files stand in. Files of an
	// overlay may have others (Documentation/filesystems/overlayfs.rst, "Inode
	// properties").
	devices map[uint64]bool
	known   map[linkName]bool
	seen    map[string]bool
	found   []place
	objects map[string]Object
	least   Mode
	left    int
	entries int
	until   time.Time
}

// closeLinks blocks the other names of blocked files, and notes in the plan
// which blocks may have more names than were found.
func (c *compiler) closeLinks(p *Plan) {
	s := &linkSearch{
		tree: p.Tree, host: c.host, files: map[inode]*linked{}, devices: map[uint64]bool{}, known: map[linkName]bool{},
		seen: map[string]bool{}, objects: map[string]Object{}, least: Write, entries: LinkEntries, until: time.Now().Add(LinkTime),
	}
	p.Unfound = map[string]bool{}
	for _, e := range p.Tree.Exceptions() {
		s.want(e.Object, e.Path, e.Mode, e.Rule)
	}
	patterns := p.Tree.Patterns()
	for i := range patterns {
		if base, err := c.host.Find(patterns[i].Base); err == nil && base.Dir && !patterns[i].Deep() {
			p.Unfound[patterns[i].Path] = !s.matched(&patterns[i], base)
		}
	}
	if complete := s.run(); !complete {
		for _, f := range s.files {
			for _, subject := range f.subjects {
				p.Unfound[subject] = p.Unfound[subject] || f.left > 0
			}
		}
	}
	for _, pl := range s.found {
		c.add(s.objects[pl.path], pl.rule)
		c.listed = append(c.listed, Listed{PathRule: pl.rule, Canonical: pl.path, Status: Enforced})
	}
	if len(s.found) > 0 {
		p.Tree = c.tree(c.places)
	}
}

// want has the other names of a blocked object looked for.
func (s *linkSearch) want(o Object, subject string, limit Mode, rule policy.PathRule) {
	if !o.Exists || !o.Linked {
		return
	}
	f := s.files[o.inode()]
	if f == nil {
		f = &linked{limit: limit, rule: rule, left: o.Names}
		s.files[o.inode()] = f
		s.left++
	}
	if limit < f.limit {
		f.limit, f.rule = limit, rule
	}
	f.subjects, s.least = append(f.subjects, subject), min(s.least, limit)
	if in, err := s.host.Find(path.Dir(o.Path)); err == nil {
		s.devices[in.Dev] = true
	}
}

// matched looks for files with several names under names that a pattern
// matches; false if a directory could not be listed.
func (s *linkSearch) matched(p *Pattern, dir Object) bool {
	inside, err := s.host.Inside(dir, func(name string) bool { return s.closedBy(p, path.Join(dir.Path, name)) })
	listed := err == nil
	for _, c := range inside {
		switch {
		case c.Dir && p.Reaches(c.Path) == c.Path && s.tree.Mode(c.Path) > p.Mode:
			listed = s.matched(p, c) && listed
		case s.closedBy(p, c.Path):
			s.want(c, p.Path, p.Mode, p.Rule)
		}
	}
	return listed
}

// closedBy reports whether a pattern decides over the very name.
func (s *linkSearch) closedBy(p *Pattern, name string) bool {
	n := s.tree.Find(name)
	return n != nil && n.Path == name && n.Rule == p.Rule
}

// run searches what is granted; false if it ended before everything was seen
// or found.
func (s *linkSearch) run() bool {
	complete := true
	for todo := s.roots(); len(todo) > 0 && s.left > 0; todo = todo[1:] {
		if s.entries <= 0 || time.Now().After(s.until) {
			return false
		}
		dir := todo[0]
		if s.seen[dir.Path] || !s.devices[dir.Dev] {
			continue
		}
		s.seen[dir.Path] = true
		inside, err := s.host.Inside(dir, nil)
		complete = complete && err == nil
		s.entries -= len(inside) + 1
		for _, c := range inside {
			if s.meet(dir, c); c.Dir && s.devices[c.Dev] && s.tree.Mode(c.Path) > s.least {
				todo = append(todo, c)
			}
		}
	}
	return complete
}

// roots are the granted directories to search, those around blocked files
// first. Granted files are looked at here.
func (s *linkSearch) roots() (dirs []Object) {
	if s.left == 0 {
		return nil
	}
	for _, n := range s.tree.Grants() {
		switch {
		case n.Mode <= s.least, n.Rule.Builtin && n.Object.Foreign:
			// Only their owner, root, could have made a name in the system's
			// directories, which no command is taken to write.
		case n.Object.Dir:
			dirs = append(dirs, n.Object)
		default:
			if in, err := s.host.Find(path.Dir(n.Path)); err == nil {
				s.meet(in, n.Object)
			}
		}
	}
	around := func(dir Object) bool {
		return slices.ContainsFunc(s.tree.Exceptions(), func(e Node) bool {
			return s.files[e.Object.inode()] != nil && strings.HasPrefix(e.Path, strings.TrimSuffix(dir.Path, "/")+"/")
		})
	}
	slices.SortStableFunc(dirs, func(a, b Object) int {
		switch x, y := around(a), around(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return dirs
}

// meet notes a name of a blocked file.
func (s *linkSearch) meet(dir, c Object) {
	f := s.files[c.inode()]
	if f == nil || !c.Linked {
		return
	}
	if name := (linkName{dir.inode(), path.Base(c.Path)}); !s.known[name] {
		s.known[name] = true
		if f.left--; f.left == 0 {
			s.left--
		}
	}
	if s.tree.Mode(c.Path) > f.limit {
		rule := f.rule
		rule.Path, rule.Pattern = c.Path, false
		s.found, s.objects[c.Path] = append(s.found, place{c.Path, rule}), c
	}
}
