// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/launch"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
)

// Assess implements [backend.Backend].
func (Backend) Assess(p *plan.Plan, f *probe.Facts) (backend.Coverage, error) {
	if err := blocked(f); err != nil {
		return nil, err
	}
	m := derive(p, f)
	var c backend.Coverage
	for _, ask := range p.Asks() {
		line := m.assess(ask)
		line.Ask = ask
		line.Accepted = line.Verdict == backend.NotEnforced && p.Accept[string(ask.Item)]
		c = append(c, line)
	}
	return c, nil
}

// Creates implements [backend.Backend]: what can have no rule takes the broker.
func (Backend) Creates(f *probe.Facts) bool { return brokerBlocker(f) == "" }

func enforced(mechanism string) backend.Line {
	return backend.Line{Verdict: backend.Enforced, Mechanism: mechanism}
}

func costs(mechanism, reason string) backend.Line {
	return backend.Line{Verdict: backend.Enforced, Mechanism: mechanism, Reason: reason}
}

func weakened(mechanism, reason string) backend.Line {
	return backend.Line{Verdict: backend.Weakened, Mechanism: mechanism, Reason: reason}
}

func missing(reason string) backend.Line {
	return backend.Line{Verdict: backend.NotEnforced, Reason: reason}
}

// assess says what enforces one item on this host.
func (m *mechanisms) assess(a plan.Ask) backend.Line {
	abi := fmt.Sprintf("Landlock ABI %d", m.facts.ABI)
	switch a.Item {
	case plan.FilesRead:
		return m.read(abi)
	case plan.FilesWrite:
		return m.write(abi)
	case plan.FilesTruncate:
		return m.truncate(abi)
	case plan.FilesMetadata:
		return m.metadata()
	case plan.FilesDevices:
		return m.devices(abi)
	case plan.FilesNested:
		return m.nested(abi, a.Subject)
	case plan.NetworkSockets:
		return m.network(abi)
	case plan.UnixPathname:
		return m.unixPathname(abi)
	case plan.UnixAbstract:
		return m.unixAbstract(abi)
	case plan.ProcessSignal:
		return m.signal(abi)
	case plan.ProcessTrace:
		// A domain can't trace, or read through /proc, a process outside of
		// it (landlock(7), "Ptrace restrictions").
		return enforced(abi + " domain")
	case plan.ProcessIPC:
		if m.filter.SharedIPC == seccomp.Allow {
			return missing("the policy accepts it")
		}
		return costs("seccomp", "System V and POSIX queues, semaphores and shared memory are closed altogether")
	case plan.ProcessTree:
		return m.tree(abi)
	case plan.Privileges:
		return enforced("no_new_privs, empty capability sets")
	case plan.Syscalls:
		return m.syscalls()
	case plan.Descriptors:
		return enforced("close_range before exec")
	case plan.Environment:
		return enforced("built anew by the launcher")
	}
	return m.limit(a.Item)
}

// syscalls: who refuses a call bare tells nobody.
func (m *mechanisms) syscalls() backend.Line {
	if m.filter.Refusals == seccomp.RefusalsTrapped {
		return enforced("seccomp")
	}
	return costs("seccomp", "what the filter refuses is not recorded as a denial, since the broker can't be used: "+m.noBroker)
}

// read: Landlock has no hook for extended attributes and inotify.
func (m *mechanisms) read(abi string) backend.Line {
	if m.filter.Reads == seccomp.Notify {
		return enforced(abi + " path rules, broker for extended attributes and inotify")
	}
	return costs(abi+" path rules, and seccomp",
		"no extended attribute can be read and nothing watched with inotify, since the broker can't be used: "+m.noBroker)
}

func (m *mechanisms) write(abi string) backend.Line {
	if m.rights.FS&probe.FSRefer == 0 {
		return costs(abi+" path rules", "below ABI 2 renaming and linking between folders fails with EXDEV everywhere")
	}
	if m.copies {
		return costs(abi+" path rules, and the broker where nothing stood yet", "there, "+copied())
	}
	return enforced(abi + " path rules")
}

func (m *mechanisms) truncate(abi string) backend.Line {
	switch {
	case m.rights.FS&probe.FSTruncate != 0:
		return enforced(abi + " path rules")
	case m.filter.PathTruncate == seccomp.Notify:
		return costs("broker (seccomp user notification), and seccomp", "below ABI 3 opening with O_TRUNC and without the right to write fails with EACCES everywhere")
	case m.filter.PathTruncate == seccomp.Refuse:
		return costs("seccomp", "below ABI 3 truncate(2) by name fails with EACCES everywhere; ftruncate works")
	}
	return missing("Landlock restricts truncation from ABI 3 on")
}

func (m *mechanisms) metadata() backend.Line {
	if m.filter.Metadata == seccomp.Notify {
		return enforced("broker (seccomp user notification)")
	}
	return missing("Landlock does not restrict chmod, chown, utimes and xattr, and the broker can't be used: " + m.noBroker)
}

func (m *mechanisms) devices(abi string) backend.Line {
	if m.rights.FS&probe.FSIoctlDev != 0 {
		return enforced(abi + " path rules")
	}
	if m.device != "" {
		return missing(fmt.Sprintf("below ABI 5 a device that is granted for reading also takes ioctl, and %q is one, or holds some", m.device))
	}
	return costs(abi+" path rules",
		"below ABI 5 a device that is granted for reading also takes ioctl; those of /dev that are here have none that changes anything")
}

func (m *mechanisms) network(abi string) backend.Line {
	if m.filter.Network == seccomp.NetworkOpen {
		return enforced("seccomp socket families: inet and inet6 open, others closed")
	}
	if m.rights.Net != 0 {
		return enforced("seccomp socket families, and " + abi + " TCP rights")
	}
	return enforced("seccomp socket families")
}

func (m *mechanisms) unixPathname(abi string) backend.Line {
	switch {
	case m.rights.FS&probe.FSResolveUnix != 0:
		return enforced(abi + " path rules")
	case m.filter.UnixConnect == seccomp.Notify:
		return costs("broker (seccomp user notification), datagram sockets refused by seccomp",
			"below ABI 9 a server sees the supervisor's pid as its peer's")
	}
	return missing("Landlock restricts connecting to socket files from ABI 9 on, and the broker can't be used: " + m.noBroker)
}

func (m *mechanisms) unixAbstract(abi string) backend.Line {
	switch {
	case m.rights.Scope&probe.ScopeAbstractUnix != 0:
		return enforced(abi + " scope")
	case m.filter.UnixConnect == seccomp.Notify:
		return costs("broker (seccomp user notification)", "below ABI 6 connecting to any abstract socket fails with EPERM")
	}
	return missing("Landlock scopes abstract sockets from ABI 6 on")
}

func (m *mechanisms) signal(abi string) backend.Line {
	switch {
	case m.rights.Scope&probe.ScopeSignal != 0:
		return enforced(abi + " scope")
	case m.filter.Signals == seccomp.Notify:
		return costs("broker (seccomp user notification)",
			"below ABI 6 signals come from the supervisor's pid, and asynchronous input and output (O_ASYNC) is refused")
	}
	return missing("Landlock scopes signals from ABI 6 on, and the broker can't be used: " + m.noBroker)
}

func (m *mechanisms) tree(abi string) backend.Line {
	if launch.Guards(m.rights) {
		return enforced("subreaper, and " + abi + " signal scope: one kill(2) reaches the whole tree")
	}
	return weakened("subreaper", "below ABI 6 processes are ended one generation at a time, which a tree that forks faster delays")
}

// limit says what bounds a resource. None of it needs Landlock.
func (m *mechanisms) limit(i plan.Item) backend.Line {
	switch i {
	case plan.LimitTimeout, plan.LimitOutput:
		return enforced("supervisor")
	case plan.LimitOpenFiles:
		return enforced("RLIMIT_NOFILE")
	case plan.LimitCPU:
		if m.cgroup.CPU {
			return enforced("cpu.stat of the control group, looked at several times a second, and RLIMIT_CPU")
		}
		return weakened("RLIMIT_CPU", "each process has the limit by itself")
	case plan.LimitFileSize:
		return enforced("RLIMIT_FSIZE")
	case plan.LimitMemory:
		if m.cgroup.Memory {
			return enforced("memory.max of the control group")
		}
		return weakened("RLIMIT_AS", "each process has the limit by itself, on its address space")
	case plan.LimitProcesses:
		if m.cgroup.Processes {
			return enforced("pids.max of the control group")
		}
		return weakened("RLIMIT_NPROC", "the kernel counts all processes and threads of this user")
	}
	return missing("this backend does not know the item")
}
