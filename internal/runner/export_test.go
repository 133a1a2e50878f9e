// SPDX-License-Identifier: Apache-2.0

package runner

// SetBuild makes a configuration demand supervisors of another build.
func (c *Config) SetBuild(b string) { c.build = b }

// SetGiven has a function called when a supervisor was given its request.
func (c *Config) SetGiven(f func()) { c.given = f }
