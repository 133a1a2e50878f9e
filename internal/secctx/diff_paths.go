// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"slices"
	"strings"
)

// paths compares the ways to the same names.
func (d *differ) paths() {
	for i := range d.a.Paths {
		a := &d.a.Paths[i]
		j := slices.IndexFunc(d.b.Paths, func(p Path) bool { return p.Asked == a.Asked })
		if j < 0 {
			continue
		}
		b := &d.b.Paths[j]
		if a.End != b.End {
			d.add(CausePathEnd, a.Asked, ending(a), ending(b), endMeaning(b.End))
		}
		d.way(a, b)
	}
}

func ending(p *Path) string {
	s := p.End
	if p.Errno != "" {
		s += " (" + p.Errno + " at " + p.Object + ")"
	}
	return s
}

func endMeaning(end string) string {
	switch end {
	case "missing":
		return "the name leads nowhere: it is hidden by a mount, lies outside of this root, or was never there"
	case "refused":
		return "a folder on the way does not let this process search it, so that nothing below can be reached by this name"
	case "found":
		return "the name leads to something here alone"
	}
	return "the kernel does not follow the name to an end"
}

// way compares components of the same name. Below a difference of the object
// or the mount all is different as well, and is not told again.
func (d *differ) way(a, b *Path) {
	other := map[string]*Component{}
	for i := range b.Components {
		other[b.Components[i].Name] = &b.Components[i]
	}
	moved, mount := false, ""
	for i := range a.Components {
		x := &a.Components[i]
		y := other[x.Name]
		if y == nil || x.Object == nil || y.Object == nil {
			continue
		}
		if !moved && (x.Object.Inode != y.Object.Inode || x.Object.Device != y.Object.Device || x.leads() != y.leads()) {
			moved = true
			d.add(CausePathObject, x.Name, identityOf(x), identityOf(y), "the same name leads to another object: a mount or another root is in between")
		}
		if text := mountPair(x.Mount, y.Mount); text[0] != text[1] && strings.Join(text[:], "\x00") != mount {
			mount = strings.Join(text[:], "\x00")
			d.add(CausePathMount, x.Name, text[0], text[1], mountMeaning(x.Mount, y.Mount))
		}
		d.component(x, y)
		d.access(x, y, i == len(a.Components)-1)
	}
}

// leads is where a link leads; those of /proc lead each process to itself.
func (c *Component) leads() string {
	if c.Mount != nil && c.Mount.Type == "proc" {
		return ""
	}
	return c.Link
}

func identityOf(c *Component) string {
	s := fmt.Sprintf("%s, inode %d on device %s", c.Kind, c.Object.Inode, c.Object.Device)
	if c.Mount != nil {
		s += " (" + c.Mount.Type + " mounted at " + c.Mount.Point + ")"
	}
	if c.Link != "" {
		s += " to " + c.Link
	}
	return s
}

// component compares what decides about one object.
func (d *differ) component(x, y *Component) {
	a, b := x.Object, y.Object
	if a.Owner.ID != b.Owner.ID || a.Group.ID != b.Group.ID || a.Owner.Unmapped != b.Owner.Unmapped || a.Group.Unmapped != b.Group.Unmapped {
		why := "owner and group decide which of the mode bits count"
		if b.Owner.Unmapped || b.Group.Unmapped {
			why = "an owner who is not mapped into the user namespace is nobody there: capabilities don't count for the object, and changing it fails with EPERM or EOVERFLOW"
		}
		d.add(CausePathOwner, x.Name, a.Owner.String()+":"+a.Group.String(), b.Owner.String()+":"+b.Group.String(), why)
	}
	if a.Mode != b.Mode && x.Kind != "link" {
		d.add(CausePathMode, x.Name, a.Mode, b.Mode, "the class of owner, group or others that the process falls into decides, and never the next one")
	}
	for _, acl := range [...]struct {
		a, b []ACLEntry
		why  string
	}{
		{x.ACL, y.ACL, "an entry for the user or for one of its groups decides, cut by the mask"},
		{x.DefaultACL, y.DefaultACL, "the default entries are for what is created here later, and give nothing on the folder itself"},
	} {
		if s, t := aclText(acl.a), aclText(acl.b); s != t {
			d.add(CausePathACL, x.Name, s, t, acl.why)
		}
	}
	if x.Attributes != nil && y.Attributes != nil && !slices.Equal(x.Attributes, y.Attributes) {
		d.add(CausePathAttributes, x.Name, list(x.Attributes), list(y.Attributes), "an immutable or append-only object can't be changed, removed or renamed by anybody: EPERM")
	}
	for _, module := range sortedKeys(x.Labels) {
		if label, ok := y.Labels[module]; ok && label != x.Labels[module] {
			d.add(CausePathLabel, x.Name, x.Labels[module], label, "the policy of "+module+" decides by the labels of process and object")
		}
	}
}

// access compares what access(2) says: of a folder on the way only whether it
// may be searched.
func (d *differ) access(x, y *Component, last bool) {
	var lost, gained []string
	for _, r := range [...]struct {
		name string
		a, b *bool
	}{{"read", x.MayRead, y.MayRead}, {"write", x.MayWrite, y.MayWrite}, {"execute", x.MayExecute, y.MayExecute}} {
		if r.a == nil || r.b == nil || *r.a == *r.b || !last && r.name != "execute" {
			continue
		}
		if *r.a {
			lost = append(lost, r.name)
		} else {
			gained = append(gained, r.name)
		}
	}
	if len(lost)+len(gained) > 0 {
		d.add(CausePathAccess, x.Name, strings.Join(lost, ","), strings.Join(gained, ","), "access(2) tells the two processes different things of this object; for a folder, execute is to search it")
	}
}

func aclText(acl []ACLEntry) string {
	var out []string
	for _, e := range acl {
		s := e.Tag
		if e.ID != nil {
			s += " " + e.ID.String()
		}
		out = append(out, s+" "+e.Perm)
	}
	return strings.Join(out, ", ")
}

// telling are the options of a mount that refuse something.
var telling = [...]string{"ro", "nosuid", "nodev", "noexec", "nosymfollow"}

// mountPair describes two mounts as far as they differ in what matters.
func mountPair(a, b *MountAt) [2]string {
	if a == nil || b == nil {
		return [2]string{}
	}
	if a.Point == b.Point && refusing(a.Options, a.Super) == refusing(b.Options, b.Super) && a.Type == b.Type {
		return [2]string{}
	}
	return [2]string{mountText(a), mountText(b)}
}

func mountText(m *MountAt) string {
	return m.Type + " at " + m.Point + " (" + refusing(m.Options, m.Super) + ")"
}

// refusing lists the options that refuse something: of the mount, and of the
// file system where that is read-only.
func refusing(options, super []string) string {
	var out []string
	for _, o := range telling {
		if slices.Contains(options, o) {
			out = append(out, o)
		}
	}
	if slices.Contains(super, "ro") {
		out = append(out, "file system ro")
	}
	if len(out) == 0 {
		return "rw"
	}
	return strings.Join(out, ",")
}

func mountMeaning(a, b *MountAt) string {
	if a.Point != b.Point {
		return "it is on another mount: renames and links between mounts fail with EXDEV, a mount point can't be replaced (EBUSY), and the mount's own options count"
	}
	return optionMeaning(a.Options, a.Super, b.Options, b.Super)
}

func optionMeaning(optionsA, superA, optionsB, superB []string) string {
	var out []string
	for _, o := range [...][2]string{
		{"ro", "writing fails with EROFS"}, {"nosuid", "setuid bits and file capabilities give nothing"},
		{"nodev", "device nodes can't be opened: EACCES"}, {"noexec", "programs can't be executed: EACCES, and EPERM for mapping them"},
		{"nosymfollow", "symbolic links are not followed: ELOOP"},
	} {
		a, b := slices.Contains(optionsA, o[0]) || o[0] == "ro" && slices.Contains(superA, "ro"), slices.Contains(optionsB, o[0]) || o[0] == "ro" && slices.Contains(superB, "ro")
		if a != b {
			out = append(out, "with "+o[0]+", "+o[1])
		}
	}
	if out == nil {
		return "it is another kind of mount"
	}
	return strings.Join(out, "; ")
}

// mostMountFindings bounds how many mounts of each kind are told.
const mostMountFindings = 20

// mounts compares the tables: of several mounts on one point the last counts.
func (d *differ) mounts() {
	if d.a.Mounts == nil || d.b.Mounts == nil {
		return
	}
	a, b := tops(d.a.Mounts.Items), tops(d.b.Mounts.Items)
	whole := len(d.a.Mounts.Items) == d.a.Mounts.Total && len(d.b.Mounts.Items) == d.b.Mounts.Total
	told := map[Cause]int{}
	tell := func(c Cause, point, x, y, why string) {
		if told[c]++; told[c] <= mostMountFindings {
			d.add(c, point, x, y, why)
		}
	}
	for _, point := range sortedKeys(a) {
		x := a[point]
		y, ok := b[point]
		switch {
		case !ok && whole:
			tell(CauseMountMissing, point, contentOf(x), "", "below this name there is what lies under the mount, or nothing")
		case !ok:
		case contentOf(x) != contentOf(y):
			tell(CauseMountOther, point, contentOf(x), contentOf(y), "something else is mounted here, so that all names below lead elsewhere")
		}
		if ok && refusing(x.Options, x.Super) != refusing(y.Options, y.Super) {
			tell(CauseMountOptions, point, refusing(x.Options, x.Super), refusing(y.Options, y.Super), optionMeaning(x.Options, x.Super, y.Options, y.Super))
		}
	}
	for _, point := range sortedKeys(b) {
		if _, ok := a[point]; !ok && whole {
			y := b[point]
			tell(CauseMountAdded, point, "", contentOf(y)+" ("+refusing(y.Options, y.Super)+")", "it hides what lies under it; its own options count, and renames and links across it fail with EXDEV")
		}
	}
	for _, c := range [...]Cause{CauseMountMissing, CauseMountOther, CauseMountOptions, CauseMountAdded} {
		if n := told[c] - mostMountFindings; n > 0 {
			d.add(c, fmt.Sprintf("%d more", n), "", "", "the full tables are in the two contexts")
		}
	}
}

func tops(mounts []Mount) map[string]Mount {
	out := map[string]Mount{}
	for _, m := range mounts {
		out[m.Point] = m
	}
	return out
}

func contentOf(m Mount) string { return m.Type + " " + m.Device + " " + m.Root }
