// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/secctx"
)

// showContext prints a context for people: what decides most, one fact a line.
// The full lists are in the JSON. All text in a context is escaped already.
func (a *App) showContext(c *secctx.Context) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.Stdout, "%-16s %s\n", name, value)
		}
	}
	line("taken", c.Taken.Of+", pid "+strconv.Itoa(c.Taken.PID))
	for _, n := range c.Taken.Notes {
		line("note", n)
	}
	line("executable", c.Program.Executable)
	if c.Program.Arguments != nil {
		line("arguments", strings.Join(c.Program.Arguments.Items, " "))
	}
	line("cwd", c.Program.Cwd)
	line("root", c.Program.Root)
	a.showIdentity(c, line)
	a.showConfinement(c, line)
	a.showSurroundings(c, line)
	for _, p := range c.Paths {
		a.showPath(p)
	}
	a.showUnknown(c.Unknown)
}

func (a *App) showIdentity(c *secctx.Context, line func(name, value string)) {
	line("user", idsText(c.Identity.User))
	line("group", idsText(c.Identity.Group))
	if g := c.Identity.Groups; g != nil {
		var names []string
		for _, id := range g.Items {
			names = append(names, id.String())
		}
		line("groups", orNone(names, ", "))
	}
	line("umask", c.Identity.Umask)
	for _, s := range []struct {
		name string
		set  []string
	}{
		{"effective", c.Capabilities.Effective}, {"permitted", c.Capabilities.Permitted}, {"inheritable", c.Capabilities.Inheritable},
		{"bounding", c.Capabilities.Bounding}, {"ambient", c.Capabilities.Ambient}, {"securebits", c.Capabilities.Securebits},
	} {
		if s.set != nil {
			line("cap "+s.name, capText(s.set))
		}
	}
}

// capText shortens a set that lacks less than it has.
func capText(set []string) string {
	const long = 30
	if len(set) > long {
		return fmt.Sprintf("%d capabilities, among them %s", len(set), strings.Join(set[:4], " "))
	}
	return orNone(set, " ")
}

func idsText(ids *secctx.IDs) string {
	switch {
	case ids == nil:
		return ""
	case ids.Real == ids.Effective && ids.Saved == ids.Effective && ids.FS == ids.Effective:
		return ids.Effective.String()
	}
	return fmt.Sprintf("effective %s, real %s, saved %s, file system %s", ids.Effective, ids.Real, ids.Saved, ids.FS)
}

func orNone(list []string, sep string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, sep)
}

func (a *App) showConfinement(c *secctx.Context, line func(name, value string)) {
	f := c.Confinement
	if f.NoNewPrivs != nil {
		line("no_new_privs", strconv.FormatBool(*f.NoNewPrivs))
	}
	seccomp := f.Seccomp
	if f.SeccompFilters != nil {
		seccomp += fmt.Sprintf(", %d filters", *f.SeccompFilters)
	}
	line("seccomp", seccomp)
	if f.LandlockLayers != nil {
		line("landlock", strconv.Itoa(*f.LandlockLayers)+" layers")
	}
	for _, module := range slices.Sorted(maps.Keys(f.Labels)) {
		line(module, f.Labels[module])
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Namespaces)) {
		n := c.Namespaces[kind]
		text := strconv.FormatUint(n.Inode, 10)
		if n.Owner != nil {
			text += ", owned by user namespace " + strconv.FormatUint(*n.Owner, 10)
		}
		line("ns "+kind, text)
	}
	for _, m := range []struct {
		name string
		maps *secctx.List[secctx.Mapping]
	}{{"uid_map", c.UserNamespace.UIDMap}, {"gid_map", c.UserNamespace.GIDMap}} {
		if m.maps == nil {
			continue
		}
		var out []string
		for _, e := range m.maps.Items {
			out = append(out, fmt.Sprintf("%d=%d+%d", e.Inside, e.Outside, e.Count))
		}
		line(m.name, orNone(out, " "))
	}
	line("setgroups", c.UserNamespace.Setgroups)
}

func (a *App) showSurroundings(c *secctx.Context, line func(name, value string)) {
	if e := c.Environment; e != nil {
		line("environment", fmt.Sprintf("%d variables: %s", e.Names.Total, strings.Join(e.Names.Items, " ")))
	}
	if d := c.Descriptors; d != nil {
		for _, x := range d.Items {
			line("fd "+strconv.Itoa(x.FD), strings.TrimSpace(strings.Join([]string{x.Kind, x.Access, x.Target}, " ")))
		}
	}
	if c.Mounts != nil {
		line("mounts", strconv.Itoa(c.Mounts.Total))
	}
	for _, name := range []string{"nofile", "nproc", "fsize", "as", "stack", "memlock"} {
		if l, ok := c.Limits[name]; ok {
			line("limit "+name, l.String())
		}
	}
	for _, l := range c.Cgroup.Levels {
		var out []string
		for _, file := range slices.Sorted(maps.Keys(l.Values)) {
			if strings.HasSuffix(file, ".max") && !strings.HasPrefix(l.Values[file], "max") {
				out = append(out, file+" "+l.Values[file])
			}
		}
		if len(out) > 0 {
			line("cgroup", l.Path+": "+strings.Join(out, ", "))
		}
	}
	if t := c.Terminal; t != nil && t.Present {
		line("terminal", t.Name+" "+t.Device)
	} else if t != nil {
		line("terminal", "none")
	}
	for _, s := range c.Sockets {
		if s.State != "none" {
			line("socket", s.Name+": "+s.State+" "+s.Path)
		}
	}
	line("kernel", c.Kernel.Release)
	line("modules", strings.Join(c.Kernel.Modules, " "))
	line("lockdown", c.Kernel.Lockdown)
}

func (a *App) showPath(p secctx.Path) {
	end := p.End
	if p.Errno != "" {
		end += " (" + p.Errno + " at " + p.Object + ")"
	}
	fmt.Fprintf(a.Stdout, "path %s: %s\n", p.Asked, end)
	for _, c := range p.Components {
		text := c.Kind
		if c.Object != nil {
			text += fmt.Sprintf(" %s %s:%s inode %d", c.Object.Mode, c.Object.Owner, c.Object.Group, c.Object.Inode)
		}
		if c.Link != "" {
			text += " -> " + c.Link
		}
		for _, e := range c.ACL {
			text += " acl:" + e.Tag
			if e.ID != nil {
				text += ":" + e.ID.String()
			}
			text += ":" + e.Perm
		}
		if len(c.Attributes) > 0 {
			text += " " + strings.Join(c.Attributes, ",")
		}
		if c.Mount != nil {
			text += " on " + c.Mount.Type + " at " + c.Mount.Point + " (" + strings.Join(c.Mount.Options, ",") + ")"
		}
		fmt.Fprintf(a.Stdout, "  %s: %s\n", c.Name, text)
	}
}

func (a *App) showUnknown(unknown map[string]secctx.Reason) {
	for i, field := range slices.Sorted(maps.Keys(unknown)) {
		if i == 0 {
			fmt.Fprintln(a.Stdout, "\nnot known")
		}
		r := unknown[field]
		text := r.Why
		if r.Errno != "" {
			text += " (" + r.Errno + ")"
		}
		if r.Needs != "" {
			text += "; it takes: " + r.Needs
		}
		fmt.Fprintf(a.Stdout, "  %s: %s\n", field, text)
	}
}
