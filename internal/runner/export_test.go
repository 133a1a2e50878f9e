// SPDX-License-Identifier: Apache-2.0

package runner

// SetBuild makes a configuration demand supervisors of another build.
func (c *Config) SetBuild(b string) { c.build = b }

// SetGiving has a function called before a supervisor is given its request.
func (c *Config) SetGiving(f func(pid int)) { c.giving = f }

// SetGiven has a function called when a supervisor was given its request.
func (c *Config) SetGiven(f func(pid int)) { c.given = f }
