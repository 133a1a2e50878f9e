// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"sort"
	"strings"

	"github.com/ambit-sandbox/ambit/policy"
)

// Environ returns the command's environment, sorted by name: what env.pass
// lets through of parent ("NAME=value" strings), then env.set, then the
// secrets' values. The later one wins.
func Environ(env policy.Env, parent []string, secrets map[string]string) []string {
	vars := map[string]string{}
	for _, kv := range parent {
		// A name may not be empty (environ(7)); such strings are dropped.
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" && passes(env.Pass, name) {
			vars[name] = value
		}
	}
	for name, value := range env.Set {
		vars[name] = value
	}
	for name, value := range secrets {
		vars[name] = value
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	sort.Strings(out)
	return out
}

// passes reports whether a pattern of env.pass lets a name through.
func passes(patterns []string, name string) bool {
	for _, p := range patterns {
		if rest, star := strings.CutSuffix(p, "*"); star && strings.HasPrefix(name, rest) || p == name {
			return true
		}
	}
	return false
}
