// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// posture is everything that a process holds or has set, by name.
type posture map[string]string

func readPosture(text string) posture {
	p := posture{}
	for _, line := range strings.Split(text, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			p[name] = value
		}
	}
	return p
}

// TestPosture lists what the sandboxed process really holds, and compares it
// with a list: what is the caller's, and what differs, and in which way. A
// new leak, or a protection that got lost, is a difference.
func TestPosture(t *testing.T) {
	w := newWorld(t)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	w.must(err)
	defer func() { _ = null.Close() }()
	read := func(cmd *exec.Cmd) posture {
		t.Helper()
		cmd.Stdin = null
		return readPosture(replies(t, finish(t, cmd), 1)[0].detail)
	}
	free := exec.Command(self(t), probeArg, "posture")
	free.Dir, free.Env = w.at("work"), w.environ()
	outside := read(free)
	inside := read(w.sandbox(w.policyFlags(), self(t), probeArg, "posture"))

	none := "0000000000000000"
	landlock := 1
	if landlockABI() >= abiScope {
		landlock = 2 // the command's, and the guard's around the launcher
	}
	want := posture{}
	for name, value := range outside {
		want[name] = value
	}
	for name, value := range map[string]string{
		"CapInh": none, "CapPrm": none, "CapEff": none, "CapAmb": none,
		"NoNewPrivs": "1", "Seccomp": "2",
		"landlock layers": plus(outside["landlock layers"], landlock),
		"descriptors":     "0 /dev/null, 1 pipe, 2 pipe",
		"environment":     "HOME JAVA_TOOL_OPTIONS LANG PATH TMPDIR XDG_CACHE_HOME npm_config_cache",
		"parent death":    "9",
		"subreaper":       "0",
		"dumpable":        "1",
		"coredump_filter": "00000000", // nothing of the memory
	} {
		want[name] = value
	}
	if outside["Seccomp_filters"] != "" { // since Linux 5.9
		want["Seccomp_filters"] = plus(outside["Seccomp_filters"], 1)
	}
	var soft, hard uint64
	_, _ = fmt.Sscan(outside["limit core"], &soft, &hard)
	want["limit core"] = fmt.Sprintf("%d %[1]d", min(1, hard)) // TestLimitsKept
	if _, _ = fmt.Sscan(outside["limit nproc"], &soft, &hard); soft < 1<<40 {
		want["limit nproc"] = fmt.Sprintf("%d %[1]d", keptProcesses(int(soft)))
	}
	// A bounding set can be emptied only with CAP_SETPCAP. Under no_new_privs
	// no exec adds anything from it (capabilities(7)).
	if os.Getuid() == 0 {
		want["CapBnd"] = none
		want["securebits"] = fmt.Sprint(0xef) // all of them, locked: uid 0 is no privilege
	}
	for name := range merged(keysOf(want), keysOf(inside)) {
		if inside[name] != want[name] {
			t.Errorf("%s: %q, want %q (outside %q)", name, inside[name], want[name], outside[name])
		}
	}
	for _, name := range []string{"Uid", "Gid", "Groups", "Umask", "SigBlk", "SigIgn", "ns user", "ns net", "session", "group", "limit nofile", "nice", "comm", "arg0"} {
		if _, ok := outside[name]; !ok {
			t.Errorf("the list does not hold %s", name)
		}
	}
}

func plus(n string, more int) string {
	var have int
	_, _ = fmt.Sscan(n, &have)
	return fmt.Sprint(have + more)
}

func keysOf(p posture) map[string]uintptr {
	out := map[string]uintptr{}
	for name := range p {
		out[name] = 0
	}
	return out
}

// TestAbove: the processes above the command, ambit and the launcher, which
// hold the policy and the secrets, are out of its reach.
func TestAbove(t *testing.T) {
	w := newWorld(t)
	c := w.converse(w.policyFlags("--secret", "TOKEN=env:HOME"))
	defer c.end()
	c.expect("list .", "OK", "") // it runs
	launcher := w.launcherOf(c.cmd.Process.Pid)
	for _, pid := range []int{c.cmd.Process.Pid, launcher} {
		for _, op := range []string{"get /proc/PID/environ", "get /proc/PID/maps", "readlink /proc/PID/fd/3", "openat AT '/proc/PID/fd/3 RDONLY", "openat AT '/proc/PID/mem RDONLY", "readlink /proc/PID/exe"} {
			c.expect(strings.ReplaceAll(op, "PID", fmt.Sprint(pid)), "EACCES", "")
		}
		for _, op := range []string{"ptrace 16 PID 0 0", "ptrace 0x4206 PID 0 0", "pidfd-take PID 3"} {
			c.expect(strings.ReplaceAll(op, "PID", fmt.Sprint(pid)), "EPERM", "")
		}
		for _, op := range []string{"kill PID 9", "kill PID 19", "kill -PID 9", "pidfd-signal PID 9"} {
			if r := c.ask(strings.ReplaceAll(op, "PID", fmt.Sprint(pid))); r.outcome != "EPERM" && !(r.outcome == "ESRCH" && strings.Contains(op, "-PID")) {
				t.Errorf("%s to %d: %v, want EPERM", op, pid, r)
			}
		}
	}
	if names := slices.Sorted(slices.Values(w.childrenOf(launcher))); len(names) != 1 {
		t.Errorf("the launcher has the children %v, want the command alone", names)
	}
}
