// SPDX-License-Identifier: Apache-2.0

package seccomp

import "syscall"

// readProbes read attributes and watch a file: what the filter answers to each
// group of calls, or unchanged.
func readProbes(attributes, watches, newest syscall.Errno, file uintptr) []probe {
	probes := []probe{
		{name: "getxattr", do: raw("getxattr", file, bad, 0, 0), want: attributes},
		{name: "lgetxattr", do: raw("lgetxattr", file, bad, 0, 0), want: attributes},
		{name: "fgetxattr", do: raw("fgetxattr", bad, bad, 0, 0), want: attributes},
		{name: "listxattr", do: raw("listxattr", file, 0, 0), want: attributes},
		{name: "llistxattr", do: raw("llistxattr", file, 0, 0), want: attributes},
		{name: "flistxattr", do: raw("flistxattr", bad, 0, 0), want: attributes},
		{name: "inotify_add_watch", do: raw("inotify_add_watch", bad, file, 1), want: watches},
	}
	for _, name := range []string{"getxattrat", "listxattrat"} {
		do := raw(name, bad, bad, bad, bad, bad, 0)
		if do() != syscall.ENOSYS { // else the kernel is older than the calls, and there is no control
			probes = append(probes, probe{name: name, do: do, want: newest})
		}
	}
	return probes
}
