// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ambit-sandbox/ambit/policy"
)

// Resolve merges a command's policy layers, and narrows what they ask for to
// its bounds, as far as that can be told without looking at paths. tmp is the
// name that a private temporary folder would have; nothing is made.
func Resolve(c *Command, tmp string) (*policy.Resolved, error) {
	p, err := resolve(c, tmp)
	if err != nil {
		return nil, err
	}
	return p.effective, nil
}

// resolveLayers resolves one list of layers for a command.
func resolveLayers(c *Command, layers []policy.Layer, tmp string) (*policy.Resolved, error) {
	if len(layers) == 0 {
		layers = []policy.Layer{{Name: "default", Policy: policy.Policy{Extends: policy.Workspace}}}
	}
	environ := c.environ()
	dir := c.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	home := canonical(variable(environ, "HOME"))
	r, err := policy.Resolve(layers, policy.Vars{Home: home, WorkDir: dir, TmpDir: tmp})
	if err != nil {
		return nil, err
	}
	return r, checkHome(r, home, canonical(passwdHome(os.Getuid())))
}

// environ is the caller's environment.
func (c *Command) environ() []string {
	if c.Environ == nil {
		return os.Environ()
	}
	return c.Environ
}

// canonical is a folder's name without links, as far as it can be found out:
// whether a folder is the home must not depend on which name it is called by.
func canonical(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil && name != "" {
		return real
	}
	return name
}

// checkHome refuses a built-in policy that would open a home for writing, as
// package policy does for the value of HOME; here also for a home behind
// links, and for the one in the password file, whatever HOME says.
func checkHome(r *policy.Resolved, homes ...string) error {
	for _, rule := range r.Rules {
		if rule.Kind != policy.Write || !rule.Builtin {
			continue
		}
		dir := canonical(rule.Path)
		if dir == "/" {
			homes = append(homes, "/")
		}
		for _, home := range homes {
			if home == "" || home == "/" && dir != "/" || !strings.HasPrefix(home+"/", strings.TrimSuffix(dir, "/")+"/") {
				continue
			}
			return &policy.Error{Name: rule.Origin, Field: "work_dir",
				Msg:  fmt.Sprintf("the policy would make all of %q writable, which is a home or holds one", dir),
				Hint: `start from a project's folder, or extend "system" and list the paths to open`}
		}
	}
	return nil
}

// passwdHome returns a user's home from the password file; empty if he has no
// line there. Other sources of users are not asked: that takes the C library.
func passwdHome(uid int) string {
	b, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), ":"); len(f) == 7 && f[2] == strconv.Itoa(uid) {
			return f[5]
		}
	}
	return ""
}

func variable(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
