// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// The built-in policies, for [Policy.Extends].
const (
	// None grants nothing.
	None = "none"
	// System grants the operating system's programs and libraries. It is
	// what a policy starts from that extends nothing.
	System = "system"
	// Workspace adds the working directory, but for its [Protections], a
	// private temporary folder and what tool chains read in the home. It is the
	// default of a run.
	Workspace = "workspace"
)

// BuiltinNames lists the built-in policies, sorted.
var BuiltinNames = []string{None, System, Workspace}

// Builtin gives a built-in policy in full, as a copy that the caller may
// change. ok is false for an unknown name.
//
// To start from one, name it in [Policy.Extends]; passing it as a layer of
// its own makes its entries the user's: missing paths are then reported, and
// variables in env.set are not replaced.
func Builtin(name string) (p Policy, ok bool) {
	switch name {
	case None:
		return Policy{}, true
	case System:
		return system(), true
	case Workspace:
		return workspace(), true
	}
	return Policy{}, false
}

func system() Policy {
	return Policy{
		ReadPaths:  slices.Concat(programPaths, configPaths, trustPaths, shellPaths, runtimePaths, toolPaths, kernelPaths, randomDevices),
		WritePaths: slices.Clone(devices),
		Env:        &Env{Pass: slices.Concat(callerEnv, localeEnv, toolEnv)},
	}
}

func workspace() Policy {
	p, yes := system(), true
	p.ReadPaths = slices.Concat(p.ReadPaths, gitPaths, homeTools, condaPaths())
	p.WritePaths = append(p.WritePaths, "${WORK_DIR}")
	p.BlockedWritePaths = protected()
	p.PrivateTmp = &yes
	p.Env.Set = scratchEnv()
	return p
}
