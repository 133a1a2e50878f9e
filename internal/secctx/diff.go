// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Comparison is how two contexts differ.
type Comparison struct {
	Schema int   `json:"schema"`
	A      Taken `json:"a"`
	B      Taken `json:"b"`
	// Findings are the differences that can matter, most telling first.
	Findings []Finding `json:"findings"`
	// NotCompared is what at least one of the two does not know: a
	// difference there does not show.
	NotCompared []Gap `json:"not_compared"`
}

// Gap is a field that could not be compared.
type Gap struct {
	Field string  `json:"field"`
	A     *Reason `json:"a,omitempty"`
	B     *Reason `json:"b,omitempty"`
}

// Diff says what b has otherwise than a, as far as it can decide what the
// kernel refuses: a is the one where something works, b the one where it does
// not. What always differs between two processes is left out: the numbers of
// processes and mounts, and which pipe or file a descriptor is.
func Diff(a, b *Context) *Comparison {
	d := &differ{a: a, b: b, found: []Finding{}}
	d.paths()
	d.identity()
	d.capabilities()
	d.confinement()
	d.namespaces()
	d.mounts()
	d.limits()
	d.cgroups()
	d.sockets()
	d.environment()
	d.descriptors()
	d.places()
	d.kernel()
	slices.SortStableFunc(d.found, func(x, y Finding) int { return rank(x.Cause) - rank(y.Cause) })
	return &Comparison{Schema, a.Taken, b.Taken, d.found, gaps(a.Unknown, b.Unknown)}
}

func gaps(a, b map[string]Reason) []Gap {
	all := map[string]bool{}
	for _, m := range [...]map[string]Reason{a, b} {
		for field := range m {
			all[field] = true
		}
	}
	out := make([]Gap, 0, len(all))
	for _, field := range sortedKeys(all) {
		if strings.HasPrefix(field, "names.") || strings.HasSuffix(field, ".owner") || strings.HasSuffix(field, ".owner_uid") {
			continue // it explains a finding, and makes none
		}
		g := Gap{Field: field}
		if r, ok := a[field]; ok {
			g.A = &r
		}
		if r, ok := b[field]; ok {
			g.B = &r
		}
		out = append(out, g)
	}
	return out
}

// differ collects findings.
type differ struct {
	a, b  *Context
	found []Finding
}

func (d *differ) add(c Cause, object, a, b, why string) {
	d.found = append(d.found, Finding{c, object, a, b, why})
}

func (d *differ) identity() {
	a, b := d.a.Identity, d.b.Identity
	d.ids(CauseUser, a.User, b.User, "the kernel compares the effective and file-system user with owners and ACLs; signals and tracing look at the real and saved one too")
	d.ids(CauseGroup, a.Group, b.Group, "a file's group bits and ACLs are matched by the numbers of the process's groups, not by names")
	if a.Groups != nil && b.Groups != nil && len(a.Groups.Items) == a.Groups.Total && len(b.Groups.Items) == b.Groups.Total {
		d.groups(allGroups(a), allGroups(b))
	}
	if a.Umask != "" && b.Umask != "" && a.Umask != b.Umask {
		d.add(CauseUmask, "", a.Umask, b.Umask, "what this process creates gets other mode bits, so that other users may not read or write it later")
	}
}

func (d *differ) ids(c Cause, a, b *IDs, why string) {
	if a == nil || b == nil {
		return
	}
	for _, k := range [...]struct {
		name string
		a, b ID
	}{{"effective", a.Effective, b.Effective}, {"fs", a.FS, b.FS}, {"real", a.Real, b.Real}, {"saved", a.Saved, b.Saved}} {
		if k.a.ID == k.b.ID {
			continue
		}
		if k.name == "fs" && a.FS == a.Effective && b.FS == b.Effective || k.name == "saved" && a.Saved == a.Effective && b.Saved == b.Effective || k.name == "real" && a.Real == a.Effective && b.Real == b.Effective {
			continue // it follows the effective one, and says nothing new
		}
		d.add(c, k.name, k.a.String(), k.b.String(), why)
	}
}

// String shows a number and its name.
func (id ID) String() string {
	s := strconv.FormatUint(uint64(id.ID), 10)
	if id.Name != "" {
		s += " (" + id.Name + ")"
	}
	if id.Unmapped {
		s += " (not mapped)"
	}
	return s
}

// allGroups are the groups that count for files: the file-system group too.
func allGroups(i Identity) map[uint32]ID {
	out := map[uint32]ID{}
	for _, g := range i.Groups.Items {
		out[g.ID] = g
	}
	if i.Group != nil {
		out[i.Group.FS.ID] = i.Group.FS
	}
	return out
}

func (d *differ) groups(a, b map[uint32]ID) {
	named := map[string]ID{}
	for _, g := range b {
		if _, both := a[g.ID]; g.Name != "" && !both {
			named[g.Name] = g
		}
	}
	for _, id := range sortedKeys(a) {
		g := a[id]
		if _, ok := b[id]; ok || isPrimary(d.a.Identity, id) {
			continue // the loss of the primary group is told already
		}
		if other, ok := named[g.Name]; ok && g.Name != "" {
			d.add(CauseGroupNumber, g.Name, g.String(), other.String(), "both are in a group of this name, but under another number, and files carry the number")
			delete(b, other.ID)
			continue
		}
		d.add(CauseGroupLost, g.String(), "member", "", "what belongs to this group by its mode or ACL is open to its members alone; a launcher that sets ids without the groups loses them")
	}
	for _, id := range sortedKeys(b) {
		if _, ok := a[id]; !ok && !isPrimary(d.b.Identity, id) {
			d.add(CauseGroupGained, b[id].String(), "", "member", "an entry for a group that gives less comes before the one for everybody else")
		}
	}
}

func isPrimary(i Identity, id uint32) bool { return i.Group != nil && i.Group.FS.ID == id }

func sortedKeys[K interface{ ~int | ~uint32 | ~string }, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (d *differ) capabilities() {
	a, b := d.a.Capabilities, d.b.Capabilities
	lost, gained := sides(a.Effective, b.Effective)
	if len(lost) > fewCapabilities {
		d.add(CauseCapability, fmt.Sprintf("%d of %d", len(lost), len(a.Effective)), strings.Join(lost, " "), list(b.Effective), allLost+"; "+whereCounts)
		lost = nil
	}
	for _, c := range lost {
		d.add(CauseCapability, c, "effective", d.stillHas(c), meaningOf(c)+"; "+whereCounts)
	}
	if len(gained) > fewCapabilities {
		d.add(CauseCapabilityExtra, strconv.Itoa(len(gained)), list(a.Effective), strings.Join(gained, " "), "what the other one is refused for their lack is open here; "+whereCounts)
		gained = nil
	}
	for _, c := range gained {
		d.add(CauseCapabilityExtra, c, "", "effective", meaningOf(c)+"; "+whereCounts)
	}
	for _, s := range [...]struct {
		name string
		a, b []string
		why  string
	}{
		{"bounding", a.Bounding, b.Bounding, "no program that is executed can get what is outside of this set, and one whose file demands it is refused with EPERM"},
		{"ambient", a.Ambient, b.Ambient, "without it the effective set is empty again after the next exec of an ordinary program"},
		{"inheritable", a.Inheritable, b.Inheritable, "file capabilities of the inheritable kind count only for what is in this set"},
	} {
		if lost, _ := sides(s.a, s.b); len(lost) > 0 {
			d.add(CauseBounding, s.name, strings.Join(lost, " "), "", s.why)
		}
	}
	if a.Securebits != nil && b.Securebits != nil && !slices.Equal(a.Securebits, b.Securebits) {
		d.add(CauseSecurebits, "", list(a.Securebits), list(b.Securebits), "they decide whether user 0 gets capabilities by exec, and whether changing users drops them")
	}
}

// fewCapabilities is up to how many are told one by one.
const fewCapabilities = 5

const (
	whereCounts = "a capability counts only for what the process's own user namespace, or one below it, owns"
	allLost     = "modes and ACLs count, for user 0 too; only one's own files can be changed and one's own processes signalled or traced; no mounts, no low ports, no raw sockets"
)

// stillHas says where b keeps a capability that is not effective any more.
func (d *differ) stillHas(c string) string {
	switch {
	case slices.Contains(d.b.Capabilities.Permitted, c):
		return "permitted, not effective"
	case slices.Contains(d.b.Capabilities.Bounding, c):
		return "only in the bounding set"
	}
	return ""
}

// sides returns what only a and only b has. A list that is unknown has no
// sides.
func sides(a, b []string) (onlyA, onlyB []string) {
	if a == nil || b == nil {
		return nil, nil
	}
	for _, s := range a {
		if !slices.Contains(b, s) {
			onlyA = append(onlyA, s)
		}
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			onlyB = append(onlyB, s)
		}
	}
	return onlyA, onlyB
}

func list(s []string) string {
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, ",")
}

func (d *differ) confinement() {
	a, b := d.a.Confinement, d.b.Confinement
	if a.NoNewPrivs != nil && b.NoNewPrivs != nil && *a.NoNewPrivs != *b.NoNewPrivs {
		d.add(CauseNoNewPrivs, "", strconv.FormatBool(*a.NoNewPrivs), strconv.FormatBool(*b.NoNewPrivs), "with it, setuid bits and file capabilities give nothing at exec: sudo and its like fail, without an error of the exec itself")
	}
	if a.Seccomp != "" && b.Seccomp != "" && (a.Seccomp != b.Seccomp || differs(a.SeccompFilters, b.SeccompFilters)) {
		d.add(CauseSeccomp, "", seccompText(a), seccompText(b), "a filter answers a system call with any errno, or a signal, before the kernel looks at the arguments")
	}
	if differs(a.LandlockLayers, b.LandlockLayers) {
		d.add(CauseLandlock, "layers", strconv.Itoa(*a.LandlockLayers), strconv.Itoa(*b.LandlockLayers), "each layer refuses what its own rules don't grant, to root as well: files with EACCES, moves between folders with EXDEV, signals with EPERM; access(2) does not know of it")
	}
	for _, module := range sortedKeys(a.Labels) {
		if other, ok := b.Labels[module]; ok && other != a.Labels[module] {
			d.add(CauseLabel, module, a.Labels[module], other, "the module's policy decides by this label, on top of modes and ACLs")
		}
	}
}

func differs(a, b *int) bool { return a != nil && b != nil && *a != *b }

func seccompText(c Confinement) string {
	if c.SeccompFilters == nil || c.Seccomp != "filter" {
		return c.Seccomp
	}
	return fmt.Sprintf("%d filters", *c.SeccompFilters)
}
