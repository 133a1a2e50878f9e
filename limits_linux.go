// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"fmt"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/cgroup"
	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// rlimits turns the policy's limits into resource limits. One that is above
// the caller's own hard limit stays at that: the caller can't give what he
// does not have (EPERM, setrlimit(2)). What the control group bounds needs none:
// it bounds all the processes together.
func rlimits(l policy.Limits, group cgroup.Controllers) ([]child.Rlimit, error) {
	if group.Memory {
		l.MemoryBytes = nil
	}
	if group.Processes {
		l.Processes = nil
	}
	var out []child.Rlimit
	for _, want := range []struct {
		resource int
		value    *int64
	}{
		{sys.RlimitAS, l.MemoryBytes},
		{sys.RlimitNofile, l.OpenFiles},
		{sys.RlimitCPU, l.CPUSeconds},
		{sys.RlimitFsize, l.FileSizeBytes},
	} {
		if want.value != nil {
			out = append(out, child.Rlimit{Resource: want.resource, Soft: uint64(*want.value), Hard: uint64(*want.value)})
		}
	}
	if l.Processes != nil {
		others, err := sys.UserTasks()
		if err != nil {
			return nil, fmt.Errorf("cannot count this user's processes: %w", err)
		}
		n := others + uint64(*l.Processes)
		out = append(out, child.Rlimit{Resource: sys.RlimitNproc, Soft: n, Hard: n})
	}
	return capped(out)
}

func capped(limits []child.Rlimit) ([]child.Rlimit, error) {
	for i := range limits {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(limits[i].Resource, &now); err != nil {
			return nil, os.NewSyscallError("getrlimit", err)
		}
		limits[i].Soft = min(limits[i].Soft, now.Max)
		limits[i].Hard = min(limits[i].Hard, now.Max)
	}
	return limits, nil
}
