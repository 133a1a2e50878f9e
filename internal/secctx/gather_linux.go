// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/child/softlimit"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Gather describes the process pid, or with 0 what a program gets that is
// started where this one was. Relative paths are followed from the working
// directory of the process, all of them in its root.
//
// An error means that there is no such process; what can't be read of one is
// in the context's Unknown. The main function must have called
// probe.Dispatch: Landlock layers are counted by a child of this program.
func Gather(pid int, paths []string) (*Context, error) {
	if _, hard, ok := softlimit.Nofile(); ok && hard < fewestFiles {
		return nil, fmt.Errorf("cannot gather a context with a limit of %d open files, it takes %d: look at the process from outside by --pid", hard, fewestFiles)
	}
	if pid == 0 || pid == os.Getpid() {
		return gather(0, ofSelf, paths)
	}
	return gather(pid, ofPID, paths)
}

// fewestFiles is what gathering and Go's runtime open at the same time, and
// some more: the runtime ends the process where it lacks one.
const fewestFiles = 24

// attempts bounds how often a process is looked at that changes meanwhile.
const attempts = 3

func gather(pid int, how origin, paths []string) (*Context, error) {
	p, err := openProcess(pid, how)
	if err != nil {
		return nil, err
	}
	defer p.close()
	for n := 1; ; n++ {
		c, err := p.context(paths)
		if err != nil || !c.Taken.Changed || n == attempts {
			return c, err
		}
	}
}

// context looks at everything once.
func (p *process) context(paths []string) (*Context, error) {
	status, before, err := p.snapshot()
	if err != nil {
		return nil, err
	}
	g := newGatherer(p, status)
	defer g.close()
	g.program()
	g.identity()
	g.capabilities()
	g.confinement()
	g.namespaces()
	g.environment()
	g.descriptors()
	g.mountTable()
	g.limits()
	g.cgroup()
	g.terminal()
	g.sockets()
	g.kernel()
	for _, path := range paths[:min(len(paths), mostPaths)] {
		g.path(path)
	}
	_, after, err := p.snapshot()
	if err != nil {
		return nil, err
	}
	if g.c.Taken.Changed = before != after; g.c.Taken.Changed {
		g.note("the process changed its program or its identity while it was looked at: the parts may not fit together")
	}
	return g.c, nil
}

// mostPaths bounds the paths of one context.
const mostPaths = 64

// gatherer fills one context.
type gatherer struct {
	p      *process
	c      *Context
	status statusFile
	names  names
	// mounts are those of the process by number, with their names as they
	// are; nil if they can't be read.
	mounts  map[uint64]Mount
	environ []string
	// root and cwd are the process's own, -1 if they can't be reached.
	root, cwd int
}

func newGatherer(p *process, status statusFile) *gatherer {
	g := &gatherer{p: p, status: status, root: -1, cwd: -1}
	g.c = &Context{Schema: Schema, Taken: Taken{Of: string(p.how), PID: p.pid, Record: -1}, Unknown: map[string]Reason{}}
	if fd, errno := p.pin("root"); errno == 0 {
		g.root = fd
	}
	if fd, errno := p.pin("cwd"); errno == 0 {
		g.cwd = fd
	}
	g.readNames()
	return g
}

func (g *gatherer) close() {
	for _, fd := range [...]int{g.root, g.cwd} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

func (g *gatherer) own() bool { return g.p.how == ofSelf }

func (g *gatherer) note(sentence string) { g.c.Taken.Notes = append(g.c.Taken.Notes, sentence) }

// needsTrace is what it takes to look into another process (ptrace(2),
// "Ptrace access mode checking", PTRACE_MODE_READ).
const needsTrace = "to be the user of the process, with at least its capabilities, while it has not made itself undumpable; or CAP_SYS_PTRACE in its user namespace"

// unknown records why a field is left out.
func (g *gatherer) unknown(field string, errno syscall.Errno, needs string) {
	r := Reason{Errno: sys.ErrnoName(errno), Needs: needs}
	switch errno {
	case syscall.EACCES, syscall.EPERM:
		r.Why = "the kernel does not let the reader look at this"
		if g.own() && needs == needsTrace {
			r.Needs = "a rule for it in what confines the process: a security module, a sandbox, or options of /proc"
		}
	case syscall.ENOENT, syscall.ESRCH:
		r.Why, r.Needs = "it is not there, or the process has ended", ""
	case syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP:
		r.Why, r.Needs = "this kernel does not tell", ""
	default:
		r.Why = "reading it failed: " + errno.Error()
	}
	g.c.Unknown[field] = r
}

// because records why a field is left out that the kernel was not asked for.
func (g *gatherer) because(field, why, needs string) {
	g.c.Unknown[field] = Reason{Why: why, Needs: needs}
}

// broken records that what the kernel said was not understood.
func (g *gatherer) broken(field string, err error) {
	g.c.Unknown[field] = Reason{Why: strings.TrimPrefix(err.Error(), "cannot ")}
}
