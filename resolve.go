// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ambit-sandbox/ambit/policy"
)

// Resolve merges a command's policy layers. tmp is the name that a private
// temporary folder would have; nothing is made or looked up.
func Resolve(c *Command, tmp string) (*policy.Resolved, error) {
	layers := c.Layers
	if len(layers) == 0 {
		layers = []policy.Layer{{Name: "default", Policy: policy.Policy{Extends: policy.Workspace}}}
	}
	environ := c.Environ
	if environ == nil {
		environ = os.Environ()
	}
	dir := c.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return policy.Resolve(layers, policy.Vars{Home: home(environ), WorkDir: dir, TmpDir: tmp})
}

// home is the caller's home under its canonical name: whether a folder is the
// home must not depend on which name it is called by.
func home(environ []string) string {
	named := variable(environ, "HOME")
	if real, err := filepath.EvalSymlinks(named); err == nil {
		return real
	}
	return named
}

func variable(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
