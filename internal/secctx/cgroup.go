// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"path"
	"slices"
	"strings"
)

// parseCgroup reads /proc/PID/cgroup (cgroups(7)) into paths by controller;
// the hierarchy of version 2 has none, "". A named hierarchy of version 1
// ("name=systemd") limits nothing and is left out.
func parseCgroup(content string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(content) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(f[1], ",") {
			if !strings.HasPrefix(controller, "name=") {
				out[controller] = f[2]
			}
		}
	}
	return out
}

// cgroupFiles are the files that limit, and those that count refusals, by
// controller.
var cgroupFiles = map[string][]string{
	"": {
		"memory.max", "memory.high", "memory.swap.max", "memory.current", "memory.events",
		"pids.max", "pids.current", "pids.events", "cpu.max", "cgroup.freeze", "cgroup.type",
	},
	"memory":  {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.failcnt", "memory.oom_control"},
	"pids":    {"pids.max", "pids.current", "pids.events"},
	"cpu":     {"cpu.cfs_quota_us", "cpu.cfs_period_us"},
	"devices": {"devices.list"},
}

// mostLevels bounds the way up; cgroup.max.depth is rarely lowered.
const mostLevels = 32

// levelsOf lists a group and those above it, up to the root that can be seen.
// Names that lead out of it ("/../x") are of another cgroup namespace: nothing
// is listed.
func levelsOf(name string) []string {
	if !strings.HasPrefix(name, "/") || strings.HasPrefix(name, "/..") {
		return nil
	}
	var out []string
	for len(out) < mostLevels {
		out = append(out, name)
		if name == "/" {
			break
		}
		name = path.Dir(name)
	}
	return out
}

// below returns where a group lies under a mount of its hierarchy whose root
// is a group itself.
func below(m Mount, name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(m.Root, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimSuffix(m.Point, "/") + rest, true
}

// hierarchy finds the mount through which a controller is seen.
func hierarchy(mounts []Mount, controller string) (Mount, bool) {
	for _, m := range mounts {
		if controller == "" && m.Type == "cgroup2" || controller != "" && m.Type == "cgroup" && slices.Contains(m.Super, controller) {
			return m, true
		}
	}
	return Mount{}, false
}

// oneLine puts the lines of a file behind one another.
func oneLine(content string) string {
	return strings.Join(strings.Split(strings.TrimSpace(content), "\n"), ", ")
}
