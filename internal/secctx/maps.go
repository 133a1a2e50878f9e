// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"strconv"
	"strings"
)

// mostMappings is the most lines that a map may have (user_namespaces(7)).
const mostMappings = 340

// parseMap reads uid_map or gid_map.
func parseMap(content string) ([]Mapping, error) {
	out := []Mapping{}
	for line := range strings.Lines(content) {
		var n [3]uint32
		fields := strings.Fields(line)
		if len(fields) != len(n) {
			return nil, fmt.Errorf("cannot read a map of ids: %q", text(line))
		}
		for i, f := range fields {
			v, err := strconv.ParseUint(f, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("cannot read a map of ids: %w", err)
			}
			n[i] = uint32(v)
		}
		out = append(out, Mapping{n[0], n[1], n[2]})
	}
	return out, nil
}

// mapped says whether a map has the id.
func mapped(maps []Mapping, id uint32) bool {
	for _, m := range maps {
		if id >= m.Inside && uint64(id) < uint64(m.Inside)+uint64(m.Count) {
			return true
		}
	}
	return false
}

// parseLimits reads /proc/PID/limits: columns of fixed width (proc_pid_limits
// in fs/proc/base.c), of which the first may hold spaces.
func parseLimits(content string) (map[string]Limit, error) {
	out := map[string]Limit{}
	for line := range strings.Lines(content) {
		for _, l := range limitNames {
			rest, ok := strings.CutPrefix(line, l[0]+" ")
			if !ok {
				continue
			}
			if f := strings.Fields(rest); len(f) >= 2 && isLimit(f[0]) && isLimit(f[1]) {
				out[l[1]] = Limit{f[0], f[1]}
			}
		}
	}
	if len(out) < len(limitNames) {
		return out, fmt.Errorf("cannot read all limits: found %d of %d", len(out), len(limitNames))
	}
	return out, nil
}

func isLimit(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil || s == "unlimited"
}

// limitNames are the kernel's names of limits, and getrlimit(2)'s.
var limitNames = [...][2]string{
	{"Max cpu time", "cpu"}, {"Max file size", "fsize"}, {"Max data size", "data"}, {"Max stack size", "stack"},
	{"Max core file size", "core"}, {"Max resident set", "rss"}, {"Max processes", "nproc"}, {"Max open files", "nofile"},
	{"Max locked memory", "memlock"}, {"Max address space", "as"}, {"Max file locks", "locks"},
	{"Max pending signals", "sigpending"}, {"Max msgqueue size", "msgqueue"}, {"Max nice priority", "nice"},
	{"Max realtime priority", "rtprio"}, {"Max realtime timeout", "rttime"},
}
