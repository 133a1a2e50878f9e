// SPDX-License-Identifier: Apache-2.0

package runner

// SetBuild makes a configuration demand supervisors of another build.
func (c *Config) SetBuild(b string) { c.build = b }
