// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// showPosture lists what this process holds, a line each.
func showPosture([]string) (string, error) {
	lines := []string{"descriptors: " + heldDescriptors()} // first: what follows opens some
	for _, name := range []string{
		"Uid", "Gid", "Groups", "Umask", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters",
		"SigBlk", "SigIgn", "ShdPnd", "SigPnd", "CoreDumping", "THP_enabled", "Cpus_allowed", "Mems_allowed",
	} {
		lines = append(lines, name+": "+statusField(name))
	}
	lines = append(lines, heldLimits()...)
	for _, ns := range []string{"cgroup", "ipc", "mnt", "net", "pid", "pid_for_children", "time", "time_for_children", "user", "uts"} {
		link, _ := os.Readlink("/proc/self/ns/" + ns)
		lines = append(lines, "ns "+ns+": "+link)
	}
	var names []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	sort.Strings(names)
	session, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
	group, _ := syscall.Getpgid(0)
	cwd, _ := os.Getwd()
	lines = append(lines,
		"environment: "+strings.Join(names, " "),
		"session: "+strconv.Itoa(int(session)), "group: "+strconv.Itoa(group),
		"working directory: "+filepath.Base(cwd), "arg0: "+filepath.Base(os.Args[0]),
		"comm: "+fileText("/proc/self/comm"), "oom_score_adj: "+fileText("/proc/self/oom_score_adj"), "cgroup: "+fileText("/proc/self/cgroup"),
		"coredump_filter: "+fileText("/proc/self/coredump_filter"),
		// linux/prctl.h
		"parent death: "+parentDeath, "dumpable: "+prctlValue(3), "keep capabilities: "+prctlValue(7), "securebits: "+prctlValue(27),
		"subreaper: "+prctlInt(37), "speculation: "+prctlValue(52), "tsc: "+prctlInt(25), "timer slack: "+prctlValue(30), // this thread's, handed on to others
		"nice: "+callValue("getpriority", "0", "0"), "personality: "+callValue("personality", "0xffffffff"),
		"landlock layers: "+strconv.Itoa(landlockLayers())) // last: it adds to them
	return strings.Join(lines, "\n"), nil
}

// heldDescriptors names what is open, without numbers that differ each time.
func heldDescriptors() string {
	numbers, _ := openDescriptors(nil)
	var out []string
	for _, fd := range strings.Fields(numbers) {
		to, err := os.Readlink("/proc/self/fd/" + fd)
		if err != nil {
			to = outcome(err)
		}
		if i := strings.Index(to, ":["); i > 0 {
			to = to[:i]
		}
		out = append(out, fd+" "+to)
	}
	return strings.Join(out, ", ")
}

// heldLimits lists every resource limit. Go has raised the soft one of open
// files for itself by now; its exec gives it back.
func heldLimits() (lines []string) {
	names := []string{"cpu", "fsize", "data", "stack", "core", "rss", "nproc", "nofile", "memlock", "as", "locks", "sigpending", "msgqueue", "nice", "rtprio", "rttime"}
	for i, name := range names {
		var l syscall.Rlimit
		_ = syscall.Getrlimit(i, &l)
		lines = append(lines, fmt.Sprintf("limit %s: %d %d", name, l.Cur, l.Max))
	}
	return lines
}

func fileText(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return outcome(err)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(b)), "\n", " ")
}

// prctlInt asks for what prctl(2) stores, prctlValue for what it returns.
func prctlInt(option uintptr) string {
	var v int32
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, uintptr(unsafe.Pointer(&v)), 0, 0, 0, 0); errno != 0 {
		return outcome(errno)
	}
	return strconv.Itoa(int(v))
}

func prctlValue(option uintptr) string {
	v, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, 0, 0, 0, 0, 0)
	if errno != 0 {
		return outcome(errno)
	}
	return strconv.Itoa(int(v))
}

func callValue(name string, args ...string) string {
	v, err := callNumber(name, args)
	if err != nil {
		return outcome(err)
	}
	return v
}

// landlockLayers counts the domains that this thread is in: Landlock takes 16
// of them (LANDLOCK_MAX_NUM_LAYERS, E2BIG), so the room that is left tells.
func landlockLayers() int {
	const most = 16
	const prSetNoNewPrivs = 38
	_, _, _ = syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0)
	handled := uint64(1) // LANDLOCK_ACCESS_FS_EXECUTE
	for n := range most + 1 {
		fd, _, errno := syscall.RawSyscall(numbers["landlock_create_ruleset"], uintptr(unsafe.Pointer(&handled)), 8, 0)
		if errno != 0 {
			return -1
		}
		_, _, errno = syscall.RawSyscall(numbers["landlock_restrict_self"], fd, 0, 0)
		_ = syscall.Close(int(fd))
		if errno == syscall.E2BIG {
			return most - n
		}
		if errno != 0 {
			return -1
		}
	}
	return -1
}
