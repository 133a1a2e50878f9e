// SPDX-License-Identifier: Apache-2.0

package secctx

// meaningOf says what a capability is asked for, of those whose lack is met
// most (capabilities(7)).
func meaningOf(capability string) string {
	switch capability {
	case "cap_dac_override":
		return "without it modes and ACLs count, even for user 0"
	case "cap_dac_read_search":
		return "without it reading and searching need the mode bits or an ACL"
	case "cap_fowner":
		return "without it only the owner may change modes, times and attributes, or remove from a sticky folder"
	case "cap_chown":
		return "without it a file can't be given to somebody else"
	case "cap_fsetid":
		return "without it changing a file of another group clears its setgid bit"
	case "cap_kill":
		return "without it only one's own processes can be signalled"
	case "cap_setuid":
		return "without it a process can't become another user"
	case "cap_setgid":
		return "without it a process can't set its groups"
	case "cap_setpcap":
		return "without it the bounding set can't be changed"
	case "cap_net_bind_service":
		return "without it ports below net.ipv4.ip_unprivileged_port_start can't be bound"
	case "cap_net_raw":
		return "without it there are no raw and packet sockets"
	case "cap_net_admin":
		return "without it the network can't be set up"
	case "cap_sys_admin":
		return "without it there are no mounts, no new namespaces but a user namespace, and no quota or limits of the system"
	case "cap_sys_ptrace":
		return "without it only one's own dumpable processes can be traced or looked into"
	case "cap_sys_chroot":
		return "without it the root can't be changed"
	case "cap_sys_resource":
		return "without it limits can't be raised, and reserved blocks and quotas count"
	case "cap_sys_nice":
		return "without it priorities can't be raised"
	case "cap_mknod":
		return "without it there are no new device nodes"
	case "cap_linux_immutable":
		return "without it the immutable and append attributes can't be changed"
	case "cap_syslog":
		return "without it the kernel's log may be closed (kernel.dmesg_restrict)"
	case "cap_bpf", "cap_perfmon":
		return "without it bpf and perf follow kernel.unprivileged_bpf_disabled and kernel.perf_event_paranoid"
	case "cap_ipc_lock":
		return "without it locked memory is limited"
	}
	return "calls that ask for it are refused with EPERM"
}

// limitMeaning says what reaching a limit looks like (getrlimit(2)).
func limitMeaning(name string) string {
	switch name {
	case "nofile":
		return "opening one more descriptor fails with EMFILE"
	case "nproc":
		return "fork and new threads fail with EAGAIN, counted for the user and not for the process"
	case "fsize":
		return "a longer file is refused with EFBIG and SIGXFSZ"
	case "as", "data":
		return "more memory is refused with ENOMEM"
	case "stack":
		return "a deeper stack ends the process with SIGSEGV, and long argument lists fail with E2BIG"
	case "memlock":
		return "locking memory fails with ENOMEM or EPERM, which io_uring, bpf and key agents do"
	case "cpu":
		return "the process is ended by SIGXCPU or SIGKILL after this many seconds"
	case "core":
		return "no core file, or a shorter one, is written"
	case "nice", "rtprio":
		return "a better priority is refused with EPERM or EACCES"
	case "sigpending", "msgqueue", "locks", "rttime", "rss":
		return "what goes beyond it is refused"
	}
	return "what goes beyond it is refused"
}

// namespaceMeaning says what another namespace changes (namespaces(7)).
func namespaceMeaning(kind string) string {
	switch kind {
	case "mnt":
		return "each has its own mounts: the same name can lead elsewhere, or nowhere"
	case "net":
		return "it has its own interfaces, ports, abstract sockets and net.* settings: what listens outside can't be reached"
	case "pid":
		return "processes outside have no number here: signals to them fail with ESRCH, and /proc does not show them"
	case "ipc":
		return "System V objects and message queues outside can't be found"
	case "uts":
		return "the host's name is another one"
	case "cgroup":
		return "control groups have other names here"
	case "time":
		return "the clocks since boot show other values"
	}
	return "it is another namespace"
}
