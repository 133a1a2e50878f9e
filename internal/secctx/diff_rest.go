// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (d *differ) namespaces() {
	for _, kind := range sortedKeys(d.a.Namespaces) {
		a := d.a.Namespaces[kind]
		b, ok := d.b.Namespaces[kind]
		if !ok || a.same(b) {
			continue
		}
		x, y := a.String(), b.String()
		if kind != "user" {
			d.add(CauseNamespace, kind, x, y, namespaceMeaning(kind))
			continue
		}
		d.add(CauseUserNamespace, "", x, y, "capabilities count only for what this user namespace owns: files of owners whom it maps, and namespaces made in it")
		d.foreign()
	}
	d.maps()
}

// same compares by what is never used again, if both have it.
func (n Namespace) same(m Namespace) bool {
	if n.ID != 0 && m.ID != 0 {
		return n.ID == m.ID
	}
	return n.Inode == m.Inode
}

// String shows the numbers of a namespace.
func (n Namespace) String() string {
	s := strconv.FormatUint(n.Inode, 10)
	if n.ID != 0 {
		s += " (" + strconv.FormatUint(n.ID, 10) + ")"
	}
	return s
}

// foreign names the namespaces for which b's capabilities don't count,
// although those of a do, or a is not in them.
func (d *differ) foreign() {
	var kinds []string
	for _, kind := range [...]string{"net", "mnt", "pid", "ipc", "uts"} {
		if len(d.b.Capabilities.Effective) > 0 && d.b.outside(kind) && !d.a.outside(kind) {
			kinds = append(kinds, kind)
		}
	}
	if kinds != nil {
		d.add(CauseUserNamespace, strings.Join(kinds, ","), "", "owned from outside", "these namespaces belong to another user namespace, so that the capabilities shown don't count for them")
	}
}

// outside says that a namespace is owned by another user namespace than the
// process's own.
func (c *Context) outside(kind string) bool {
	n, ok := c.Namespaces[kind]
	// EPERM says to the process itself: the owner is further out. A module
	// that refuses to open the namespace answers EACCES.
	hidden := c.Taken.Of == "self" && c.Unknown["namespaces."+kind+".owner"].Errno == "EPERM"
	return ok && (hidden || n.Owner != nil && *n.Owner != c.Namespaces["user"].Inode)
}

func (d *differ) maps() {
	a, b := d.a.UserNamespace, d.b.UserNamespace
	for _, m := range [...]struct {
		name string
		a, b *List[Mapping]
	}{{"uid", a.UIDMap, b.UIDMap}, {"gid", a.GIDMap, b.GIDMap}} {
		if m.a != nil && m.b != nil && !slices.Equal(m.a.Items, m.b.Items) {
			d.add(CauseIDMap, m.name, mapText(m.a), mapText(m.b), "ids without a mapping are the overflow id here; becoming one, or giving a file to it, fails with EINVAL")
		}
	}
	if a.Setgroups != "" && b.Setgroups != "" && a.Setgroups != b.Setgroups {
		d.add(CauseSetgroups, "", a.Setgroups, b.Setgroups, "where it is denied, no process of the user namespace can set its groups: EPERM")
	}
}

func mapText(l *List[Mapping]) string {
	var out []string
	for _, m := range l.Items[:min(len(l.Items), 8)] {
		out = append(out, fmt.Sprintf("%d=%d+%d", m.Inside, m.Outside, m.Count))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, " ")
}

func (d *differ) limits() {
	for _, name := range sortedKeys(d.a.Limits) {
		a := d.a.Limits[name]
		if b, ok := d.b.Limits[name]; ok && a != b && name != "rss" && name != "core" {
			d.add(CauseLimit, name, a.String(), b.String(), limitMeaning(name)+"; beyond the hard limit raising it fails with EPERM")
		}
	}
}

// String shows both values, or the one that they share.
func (l Limit) String() string {
	if l.Soft == l.Hard {
		return l.Soft
	}
	return l.Soft + " (hard " + l.Hard + ")"
}

// cgroupLimits are files whose least value on the way up counts.
var cgroupLimits = [...][2]string{
	{"pids.max", "fork fails with EAGAIN, for root too"},
	{"memory.max", "beyond it a process of the group is killed"}, {"memory.limit_in_bytes", "beyond it a process of the group is killed"},
	{"memory.high", "beyond it processes are slowed down"}, {"memory.swap.max", "beyond it nothing more is swapped"},
	{"cpu.max", "processes wait for the next period"}, {"cpu.cfs_quota_us", "processes wait for the next period"},
	{"devices.list", "opening another device fails with EPERM"},
}

func (d *differ) cgroups() {
	if len(d.a.Cgroup.Levels) == 0 || len(d.b.Cgroup.Levels) == 0 {
		return
	}
	for _, f := range cgroupLimits {
		a, b := least(d.a.Cgroup.Levels, f[0]), least(d.b.Cgroup.Levels, f[0])
		if a != b {
			d.add(CauseCgroup, f[0], a, b, f[1])
		}
	}
	for _, f := range [...]string{"pids.events", "memory.events", "memory.failcnt", "memory.oom_control"} {
		a, b := refusals(d.a.Cgroup.Levels, f), refusals(d.b.Cgroup.Levels, f)
		if b != "" && a != b {
			d.add(CauseCgroupRefused, f, a, b, "the group has refused this often, or had to kill")
		}
	}
}

// least returns the tightest value on the way up: the smallest number, or the
// process's own text where values are no numbers.
func least(levels []CgroupLevel, file string) string {
	best, found := int64(0), ""
	for _, l := range levels {
		v, ok := l.Values[file]
		if !ok || strings.HasPrefix(v, "max") || v == "-1" {
			continue
		}
		word, _, _ := strings.Cut(v, " ")
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return v
		}
		if found == "" || n < best {
			best, found = n, v
		}
	}
	if found == "" || best >= unlimitedMemory {
		return "none"
	}
	return found
}

// unlimitedMemory is what version 1 shows for no limit, about
// (PAGE_COUNTER_MAX, linux/page_counter.h).
const unlimitedMemory = 1 << 62

// refusals returns the counters of a file that are not zero and tell of a
// refusal, of the process's own group.
func refusals(levels []CgroupLevel, file string) string {
	var out []string
	for _, l := range levels {
		v, ok := l.Values[file]
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(v); err == nil && n > 0 {
			return v
		}
		for counter := range strings.SplitSeq(v, ", ") {
			name, n, _ := strings.Cut(counter, " ")
			// Reaching memory.max alone makes the kernel look for memory.
			if n != "0" && (name == "max" && file == "pids.events" || name == "oom" || name == "oom_kill" || name == "oom_group_kill") {
				out = append(out, counter)
			}
		}
		break
	}
	return strings.Join(out, ", ")
}

func (d *differ) sockets() {
	for _, a := range d.a.Sockets {
		i := slices.IndexFunc(d.b.Sockets, func(s Socket) bool { return s.Name == a.Name })
		if i < 0 {
			continue
		}
		b := d.b.Sockets[i]
		if !a.leads() && !b.leads() {
			continue // no program finds one in either
		}
		if a.State != b.State || a.Path != b.Path && (a.State == "present" || b.State == "present") || a.State == "present" && a.Listening != nil && b.Listening != nil && *a.Listening != *b.Listening {
			d.add(CauseSocket, a.Name, socketText(a), socketText(b), "programs find it by "+a.Variable+"; connecting needs the name to lead to it and write permission on it")
		}
	}
}

// leads says that the variable, or the usual place, leads to something.
func (s Socket) leads() bool {
	return s.State == "present" || s.State == "elsewhere" || s.State == "not a socket"
}

func socketText(s Socket) string {
	text := s.State
	if s.Path != "" {
		text += " " + s.Path
	}
	if s.Listening != nil && !*s.Listening {
		text += " (no listener listed)"
	}
	if s.Errno != "" && s.State != "absent" {
		text += " (" + s.Errno + ")"
	}
	return text
}

// harmless are variables that differ without a meaning: shells keep them for
// themselves.
var harmless = [...]string{"_", "SHLVL", "PWD", "OLDPWD", "LINES", "COLUMNS"}

func (d *differ) environment() {
	a, b := d.a.Environment, d.b.Environment
	if a == nil || b == nil {
		return
	}
	missing, added := sides(a.Names.Items, b.Names.Items)
	ofShell := func(name string) bool { return slices.Contains(harmless[:], name) }
	missing, added = slices.DeleteFunc(missing, ofShell), slices.DeleteFunc(added, ofShell)
	whole := len(a.Names.Items) == a.Names.Total && len(b.Names.Items) == b.Names.Total
	if len(missing) > 0 && whole {
		d.add(CauseEnvMissing, strconv.Itoa(len(missing)), some(missing), "", "a program that finds its home, tools, proxy, credentials or agent by such a variable looks elsewhere, or gives up by itself")
	}
	if len(added) > 0 && whole {
		d.add(CauseEnvAdded, strconv.Itoa(len(added)), "", some(added), "a variable can send a program to other files, libraries or servers")
	}
	if a.Salt == "" || a.Salt != b.Salt {
		return
	}
	for _, name := range sortedKeys(a.Compared) {
		if other, ok := b.Compared[name]; ok && other != a.Compared[name] {
			d.add(CauseEnvDiffers, name, "set", "set otherwise", "programs look in another place, which may be missing or closed; values are never recorded")
		}
	}
}

// some joins names, not more than fit on a screen.
func some(names []string) string {
	const most = 60
	if len(names) <= most {
		return strings.Join(names, " ")
	}
	return strings.Join(names[:most], " ") + fmt.Sprintf(" and %d more", len(names)-most)
}

func (d *differ) descriptors() {
	if d.a.Descriptors == nil || d.b.Descriptors == nil {
		return
	}
	b := map[int]Descriptor{}
	for _, x := range d.b.Descriptors.Items {
		b[x.FD] = x
	}
	for _, x := range d.a.Descriptors.Items {
		y, ok := b[x.FD]
		number := strconv.Itoa(x.FD)
		switch {
		case x.FD == d.a.Taken.Record || x.FD == d.b.Taken.Record || slices.Contains(x.Flags, "cloexec"):
		case !ok && len(d.b.Descriptors.Items) == d.b.Descriptors.Total:
			d.add(CauseDescriptor, number, x.text(), "", "a program that was told this number finds nothing there: EBADF")
		case !ok:
		case x.Kind != y.Kind || x.Access != y.Access:
			d.add(CauseDescriptor, number, x.text(), y.text(), "what can be done with it depends on what it is: terminal calls fail with ENOTTY, seeking in a pipe with ESPIPE")
		case x.Reopen != "" && y.Reopen != "" && x.Reopen != y.Reopen:
			d.add(CauseDescriptor, number, x.text()+", reopens: "+x.Reopen, y.text()+", reopens: "+y.Reopen+" "+y.ReopenErrno, "it is inherited and works, but opening it again by /dev/stdin or /proc/self/fd is refused")
		}
	}
}

func (x Descriptor) text() string {
	if x.Access == "" {
		return x.Kind
	}
	return x.Kind + " (" + x.Access + ")"
}

// places compares root, working directory and terminal.
func (d *differ) places() {
	a, b := d.a.Program, d.b.Program
	if a.Root != "" && b.Root != "" && a.Root != b.Root {
		d.add(CauseRoot, "", a.Root, b.Root, "all absolute names lead into another tree")
	}
	if a.Cwd != "" && b.Cwd != "" && a.Cwd != b.Cwd {
		d.add(CauseCwd, "", a.Cwd, b.Cwd, "relative names lead elsewhere; a working directory that may not be searched refuses them all")
	}
	x, y := d.a.Terminal, d.b.Terminal
	switch {
	case x == nil || y == nil:
	case x.Present != y.Present:
		d.add(CauseTerminal, "", x.text(), y.text(), "without a controlling terminal /dev/tty can't be opened (ENXIO), and nobody can be asked for a password")
	case x.Foreground != nil && y.Foreground != nil && *x.Foreground != *y.Foreground:
		d.add(CauseTerminal, "foreground", x.text(), y.text(), "a process in the background that reads from the terminal is stopped by SIGTTIN")
	}
}

func (t *Terminal) text() string {
	switch {
	case !t.Present:
		return "none"
	case t.Foreground != nil && !*t.Foreground:
		return "in the background"
	}
	return "in the foreground"
}

func (d *differ) kernel() {
	a, b := d.a.Kernel, d.b.Kernel
	if a.Release != b.Release {
		d.add(CauseKernel, "release", a.Release, b.Release, "the two ran on different kernels")
	}
	if a.Modules != nil && b.Modules != nil && !slices.Equal(a.Modules, b.Modules) {
		d.add(CauseKernel, "modules", list(a.Modules), list(b.Modules), "each active security module can refuse on top of the others")
	}
	if a.Lockdown != "" && b.Lockdown != "" && a.Lockdown != b.Lockdown {
		d.add(CauseKernel, "lockdown", a.Lockdown, b.Lockdown, "lockdown refuses what could change the kernel, to root as well")
	}
	for _, name := range sortedKeys(a.Sysctls) {
		if v, ok := b.Sysctls[name]; ok && v != a.Sysctls[name] && name != "fs.binfmt_misc.status" {
			d.add(CauseSysctl, name, a.Sysctls[name], v, "the setting opens or closes a facility, and belongs to the namespace or the host")
		}
	}
}
