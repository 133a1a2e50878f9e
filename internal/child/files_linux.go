// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Files are the descriptors that go to the launcher, by their numbers; -1 is
// none, which only the last four may be.
type Files struct {
	// Spec is the sealed memory file with the [Spec].
	Spec int
	// WorkDir is an open folder, Ruleset the command's Landlock ruleset.
	WorkDir, Ruleset int
	// Stdin, Stdout and Stderr are the command's.
	Stdin, Stdout, Stderr int
	// Guard is the ruleset of the launcher's domain (EnterGuard).
	Guard int
	// Go is the pipe at which a command with a broker waits.
	Go int
	// Tmp is the run's private temporary folder.
	Tmp int
	// Cgroup is the cgroup.procs of the command's control group.
	Cgroup int
}

// Launch sends the launcher what it is to launch.
func Launch(control int, f Files) error {
	m := message{kind: msgLaunch}
	var pass []int
	for i, fd := range f.list() {
		if *fd >= 0 {
			m.number |= 1 << i
			pass = append(pass, *fd)
		}
	}
	return sys.Send(control, m.encode(), pass...)
}

func (f *Files) list() []*int {
	return []*int{&f.Spec, &f.WorkDir, &f.Ruleset, &f.Stdin, &f.Stdout, &f.Stderr, &f.Guard, &f.Go, &f.Tmp, &f.Cgroup}
}

// required are the first of the list.
const required = 6

func filesOf(m message, fds []int) (f Files, err error) {
	if m.kind != msgLaunch {
		return f, errors.New("the first message is not a launch")
	}
	for i, fd := range f.list() {
		*fd = -1
		switch {
		case m.number&(1<<i) == 0 && i < required, m.number&(1<<i) != 0 && len(fds) == 0:
			// A limit of open files cuts descriptors off (unix(7), MSG_CTRUNC).
			return f, errors.New("a descriptor is missing")
		case m.number&(1<<i) != 0:
			*fd, fds = fds[0], fds[1:]
		}
	}
	return f, nil
}
