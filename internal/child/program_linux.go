// SPDX-License-Identifier: Apache-2.0

package child

import (
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/child/softlimit"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// program is the list of calls that the forked child makes, with the name of
// each for the error it may report.
type program struct {
	steps []sys.Step
	names []stepName
}

type stepName struct{ step, object string }

func (p *program) add(name string, s sys.Step) { p.addFor(name, "", s) }

func (p *program) addFor(name, object string, s sys.Step) {
	p.steps = append(p.steps, s)
	p.names = append(p.names, stepName{name, object})
}

// buildProgram orders the steps. Each narrows what the next may do, so the
// order is part of the design:
//
//   - the control group, so that all that follows counts there;
//   - the process group while signals can still be sent to it by name;
//   - limits, since raising one back needs a capability;
//   - the working directory while nothing is restricted yet;
//   - capabilities before no_new_privs and Landlock: what is not held can't
//     be used to get around either;
//   - Landlock before the filter, which then need not allow for it;
//   - the filter last but for the calls that every process may make: marking
//     descriptors, the parent-death signal (Landlock and capset reset it when
//     credentials change: commit_creds, kernel/cred.c), whether there is a
//     parent left whose death could be told, and execve.
func buildProgram(s *Spec, f Files, group int) (*program, error) {
	p := &program{}
	if f.Cgroup >= 0 {
		p.add("enter the control group", sys.StepEnterCgroup(f.Cgroup))
	}
	p.add("setpgid", sys.StepJoinGroup(group))
	for _, l := range append(inheritedLimits(), s.Limits...) {
		p.add("set resource limit", sys.StepRlimit(l.Resource, l.Soft, l.Hard))
	}
	p.add("enter the working directory", sys.StepChdir(f.WorkDir))
	if err := p.dropPrivileges(); err != nil {
		return nil, err
	}
	p.add("set no_new_privs", sys.StepNoNewPrivs())
	p.add("landlock_restrict_self", sys.StepLandlock(f.Ruleset, s.RestrictFlags))
	p.addFilter(s, f)
	p.add("close descriptors", sys.StepCloseOnExec(3))
	p.add("set the parent-death signal", sys.StepParentDeath(syscall.SIGKILL))
	p.add("look for the launcher", sys.StepParentIs(os.Getpid()))
	for _, file := range s.Files {
		exec, err := sys.StepExec(file, s.Argv, s.Env)
		if err != nil {
			return nil, err
		}
		p.addFor(stepExec, file, exec)
	}
	return p, nil
}

// stepExec names the steps whose failure is the command's, not the sandbox's.
const stepExec = "execve"

const stepFilter = "seccomp"

// dropPrivileges empties every capability set. The bounding set and the
// securebits can be changed only with CAP_SETPCAP; without it the process
// holds nothing that exec under no_new_privs could raise again.
func (p *program) dropPrivileges() error {
	held, err := sys.EffectiveCaps()
	if err != nil {
		return err
	}
	p.add("clear ambient capabilities", sys.StepClearAmbient())
	if held&(1<<sys.CapSetpcap) != 0 {
		for c := sys.LastCap(); c >= 0; c-- {
			p.add("drop a capability from the bounding set", sys.StepDropBounding(c))
		}
		p.add("lock securebits", sys.StepLockSecurebits())
	}
	p.add("drop capabilities", sys.StepDropCapabilities())
	return nil
}

// addFilter installs the filter and sends its listener, if it has one, to
// the supervisor. The child goes on only when the broker is ready, which a
// byte in the pipe says; a supervisor that fails or dies closes the pipe.
func (p *program) addFilter(s *Spec, f Files) {
	if s.FilterFlags&sys.SeccompNewListener == 0 {
		p.add(stepFilter, sys.StepSeccomp(s.Filter, uintptr(s.FilterFlags), nil))
		return
	}
	send, cell := sys.StepSendFD(fdControl, message{kind: msgListener}.encode())
	p.add(stepFilter, sys.StepSeccomp(s.Filter, uintptr(s.FilterFlags), cell))
	p.add("hand over the listener", send)
	p.add("wait for the broker", sys.StepAwaitByte(f.Go))
}

// inheritedLimits gives the command the caller's limit of open files back,
// and no memory dumps: the kernel writes those wherever core_pattern says,
// or hands them, secrets and all, to a program that it starts there, outside
// of any policy (core(5)). A limit of 0 does not stop the latter; 1 does
// ("RLIMIT_CORE is set to 1, aborting core", fs/coredump.c), and is below the
// smallest file. A caller whose own hard limit is 0 can't give 1.
//
// The command may have fewer processes than the caller by a reserve: when it
// has used up its own, the supervisor and the launcher can still start the
// threads that they end it with.
func inheritedLimits() []Rlimit {
	var now syscall.Rlimit
	core := Rlimit{Resource: syscall.RLIMIT_CORE, Soft: 1, Hard: 1}
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &now) == nil && now.Max == 0 {
		core.Soft, core.Hard = 0, 0
	}
	limits := []Rlimit{core}
	if syscall.Getrlimit(sys.RlimitNproc, &now) == nil && now.Cur < 1<<40 {
		soft := max(now.Cur, threadReserve+1) - threadReserve
		limits = append(limits, Rlimit{sys.RlimitNproc, soft, soft})
	}
	if soft, hard, ok := softlimit.Nofile(); ok {
		limits = append(limits, Rlimit{syscall.RLIMIT_NOFILE, soft, hard})
	}
	return limits
}

// threadReserve is how many threads the two may need at most in the end.
const threadReserve = 24

// failure turns what the forked child reported into a message.
func (p *program) failure(f sys.StepFailure) message {
	n := p.names[f.Index]
	if n.step == stepExec {
		return message{kind: msgExec, number: uint32(f.Errno), text: n.object}
	}
	if n.step == stepFilter && syscall.Errno(f.Errno) == syscall.EBUSY {
		n.object = "a supervisor outside already listens to this process, and the kernel allows one" // has_duplicate_listener, kernel/seccomp.c
	}
	return message{kind: msgStep, number: uint32(f.Errno), text: n.step + "\x00" + n.object}
}
