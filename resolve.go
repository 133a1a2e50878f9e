// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"os"
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
	return policy.Resolve(layers, policy.Vars{Home: variable(environ, "HOME"), WorkDir: dir, TmpDir: tmp})
}

func variable(environ []string, name string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
