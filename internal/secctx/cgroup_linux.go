// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"os"
	"slices"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// cgroup reads the limits of the process's groups, up to the root. The reader
// looks through its own mounts, where the path that /proc shows it counts.
func (g *gatherer) cgroup() {
	g.because("cgroup.devices", "which devices a group of version 2 may use is decided by a program that the kernel shows to the administrator alone", "CAP_SYS_ADMIN, and bpftool cgroup")
	content, errno := g.p.read("cgroup")
	if errno != 0 {
		g.unknown("cgroup.paths", errno, "a kernel with control groups")
		return
	}
	paths := parseCgroup(content)
	g.c.Cgroup.Paths = map[string]string{}
	for controller, name := range paths {
		g.c.Cgroup.Paths[text(controller)] = text(name)
	}
	own, err := readFile("/proc/self/mountinfo")
	mounts, _ := parseMountinfo(own)
	if err != nil {
		g.because("cgroup.levels", "the reader's mounts can't be read", "a mounted /proc")
		return
	}
	for _, controller := range [...]string{"", "memory", "pids", "cpu", "devices"} {
		if name, ok := paths[controller]; ok {
			g.levels(mounts, controller, name)
		}
	}
}

func (g *gatherer) levels(mounts []Mount, controller, name string) {
	field := "cgroup.levels"
	if controller != "" {
		field += "." + controller
	}
	m, ok := hierarchy(mounts, controller)
	if !ok {
		g.because(field, "the reader's mounts show no control groups of this kind", "a mount of them, usually /sys/fs/cgroup")
		return
	}
	levels := levelsOf(name)
	if len(levels) == 0 {
		g.because(field, "the group lies outside of the reader's cgroup namespace", "to be gathered from outside of it")
	}
	for _, level := range levels {
		folder, ok := below(m, level)
		if !ok {
			g.because(field+".above", "groups above the mount "+text(m.Point)+" can't be seen", "a mount of the hierarchy's root")
			return
		}
		values := map[string]string{}
		for _, file := range cgroupFiles[controller] {
			if v, err := sys.ReadSmallFile(folder + "/" + file); err == nil {
				values[file] = text(oneLine(v))
			}
		}
		if len(values) > 0 {
			g.c.Cgroup.Levels = append(g.c.Cgroup.Levels, CgroupLevel{controller, text(level), values})
		} else if _, err := os.Stat(folder); err != nil {
			g.because(field, "the group can't be reached at "+text(folder), "")
		}
	}
}

func readFile(name string) (string, error) {
	b, _, errno := sys.ReadFrom(sys.AtCWD, name, mostLarge)
	if errno != 0 {
		return "", errno
	}
	return string(b), nil
}

// sysctls are the settings that can refuse something, by what their value
// depends on: "" is the host, otherwise the namespace of who reads.
var sysctls = [...]struct{ name, of string }{
	{"kernel/yama/ptrace_scope", ""}, {"kernel/dmesg_restrict", ""}, {"kernel/kptr_restrict", ""},
	{"kernel/perf_event_paranoid", ""}, {"kernel/unprivileged_bpf_disabled", ""}, {"kernel/io_uring_disabled", ""},
	{"kernel/io_uring_group", ""}, {"kernel/kexec_load_disabled", ""}, {"kernel/modules_disabled", ""},
	{"kernel/unprivileged_userns_clone", ""}, {"kernel/apparmor_restrict_unprivileged_userns", ""},
	{"kernel/seccomp/actions_avail", ""}, {"kernel/pid_max", "pid"}, {"kernel/threads-max", ""},
	{"kernel/overflowuid", ""}, {"kernel/overflowgid", ""}, {"kernel/keys/maxkeys", ""}, {"kernel/keys/maxbytes", ""},
	{"fs/protected_hardlinks", ""}, {"fs/protected_symlinks", ""}, {"fs/protected_regular", ""}, {"fs/protected_fifos", ""},
	{"fs/suid_dumpable", ""}, {"fs/nr_open", ""}, {"fs/file-max", ""}, {"fs/pipe-max-size", ""}, {"fs/pipe-user-pages-soft", ""},
	{"fs/mount-max", ""}, {"fs/overflowuid", ""}, {"fs/binfmt_misc/status", ""}, {"vm/unprivileged_userfaultfd", ""},
	{"vm/overcommit_memory", ""}, {"vm/max_map_count", ""}, {"vm/mmap_min_addr", ""},
	{"user/max_user_namespaces", "user"}, {"user/max_mnt_namespaces", "user"}, {"user/max_net_namespaces", "user"},
	{"user/max_pid_namespaces", "user"}, {"user/max_inotify_instances", "user"}, {"user/max_inotify_watches", "user"},
	{"net/ipv4/ip_unprivileged_port_start", "net"}, {"net/ipv4/ping_group_range", "net"},
}

// kernel reads what the host decides.
func (g *gatherer) kernel() {
	k := &g.c.Kernel
	k.Release, _ = sys.KernelRelease()
	modules, err := sys.ActiveLSMs()
	if err != nil {
		if list, err2 := sys.ReadSmallFile("/sys/kernel/security/lsm"); err2 == nil {
			modules, err = strings.Split(strings.TrimSpace(list), ","), nil
		}
	}
	if err != nil {
		g.because("kernel.modules", "this kernel tells the active security modules only through securityfs", "securityfs mounted on /sys/kernel/security")
	} else if k.Modules = modules; modules == nil {
		k.Modules = []string{}
	}
	g.lockdown(modules, err == nil)
	g.sysctls()
}

func (g *gatherer) lockdown(modules []string, known bool) {
	mode, err := sys.ReadSmallFile("/sys/kernel/security/lockdown")
	switch {
	case err == nil:
		k := strings.TrimSpace(mode)
		if _, rest, ok := strings.Cut(k, "["); ok {
			k, _, _ = strings.Cut(rest, "]")
		}
		g.c.Kernel.Lockdown = text(k)
	case known && !slices.Contains(modules, "lockdown"):
		g.c.Kernel.Lockdown = "none"
	default:
		g.because("kernel.lockdown", "only securityfs tells", "securityfs mounted on /sys/kernel/security")
	}
}

// sysctls reads the settings. Some belong to a namespace, and the reader sees
// those of its own.
func (g *gatherer) sysctls() {
	k := &g.c.Kernel
	k.Sysctls = map[string]string{}
	for _, s := range sysctls {
		name := strings.ReplaceAll(s.name, "/", ".")
		if s.of != "" && !g.shares(s.of) {
			g.because("kernel.sysctls."+name, "it belongs to the "+s.of+" namespace of the process, and the reader is in another one", "to be gathered in that namespace")
			continue
		}
		v, err := sys.ReadSmallFile("/proc/sys/" + s.name)
		switch {
		case err == nil:
			k.Sysctls[name] = text(strings.Join(strings.Fields(v), " "))
		case os.IsNotExist(err):
			k.Absent = append(k.Absent, name)
		default:
			g.c.Unknown["kernel.sysctls."+name] = Reason{Errno: sys.ErrnoName(err), Why: "the reader may not read it"}
		}
	}
}

// shares says whether the process is in the reader's namespace of this kind.
func (g *gatherer) shares(kind string) bool {
	if g.own() {
		return true
	}
	n, ok := g.c.Namespaces[kind]
	if !ok {
		return false
	}
	self, errno := sys.OpenAt(sys.AtCWD, "/proc/self", oPath, 0)
	if errno != 0 {
		return false
	}
	defer closeFD(self)
	inode, errno := namespaceInode(self, kind)
	return errno == 0 && inode == n.Inode
}
