// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Confine implements [backend.Backend].
func (Backend) Confine(p *plan.Plan, f *probe.Facts, streams []*os.File) (*backend.Confinement, error) {
	if err := blocked(f); err != nil {
		return nil, err
	}
	m := derive(p, f)
	c := &backend.Confinement{}
	err := m.confine(p, c)
	if err == nil {
		err = m.allowStreams(int(c.Ruleset.Fd()), streams)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (m *mechanisms) confine(p *plan.Plan, c *backend.Confinement) (err error) {
	if c.Ruleset, err = m.ruleset(p); err != nil {
		return err
	}
	// The kernel's audit is to name denials after the exec too: without the
	// flag a sandboxed command's denials leave no record.
	c.RestrictFlags = uint32(m.rights.Restrict & probe.RestrictLogNewExecOn)
	program, err := seccomp.Compile(runtime.GOARCH, m.filter)
	if err != nil {
		return err
	}
	c.Filter = program.Bytes()
	if m.notifies() {
		// A signal must not interrupt a call that the broker has begun:
		// it would be made twice (seccomp(2), WAIT_KILLABLE_RECV).
		c.FilterFlags = sys.SeccompNewListener | sys.SeccompWaitKillableRecv
		c.Brokered = true
	}
	return nil
}

// handled is everything that the ruleset denies unless a rule allows it:
// every right that the ABI knows.
func (m *mechanisms) handled(p *plan.Plan) sys.Ruleset {
	r := sys.Ruleset{FS: uint64(m.rights.FS), Scoped: uint64(m.rights.Scope)}
	if p.Network == plan.NoNetwork {
		r.Net = uint64(m.rights.Net)
	}
	if p.Accept[string(plan.UnixPathname)] {
		r.FS &^= uint64(probe.FSResolveUnix)
	}
	return r
}

// ruleset makes the command's ruleset. There is one only: of two stacked ones
// each must allow a rename between folders, and a ruleset that handles no
// file rights denies it all the same (landlock(7), LANDLOCK_ACCESS_FS_REFER).
func (m *mechanisms) ruleset(p *plan.Plan) (*os.File, error) {
	fd, err := sys.LandlockCreateRuleset(m.handled(p))
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "ruleset")
	host := hostpath.New()
	for _, n := range p.Tree.Grants() {
		if err := m.allow(fd, host, n); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return f, nil
}

// allow adds the rule of one node, on the very object that the plan saw.
func (m *mechanisms) allow(ruleset int, host *hostpath.Resolver, n plan.Node) error {
	fd, err := host.Open(n.Object)
	if err != nil {
		return fmt.Errorf("cannot add a rule: %w", err)
	}
	defer func() { _ = syscall.Close(fd) }()
	access := m.access(n)
	if access == 0 {
		return nil // a symbolic link or the like: nothing to grant
	}
	if err := sys.LandlockAllow(ruleset, uint64(access), fd); err != nil {
		return fmt.Errorf("cannot add a rule for %q: %w", n.Path, err)
	}
	return nil
}

// access is what a node's mode means in this ABI's rights. A rule on anything
// but a folder may name file rights only (EINVAL otherwise).
func (m *mechanisms) access(n plan.Node) probe.FS {
	rights := probe.FSExecute | probe.FSReadFile | probe.FSReadDir
	if n.Mode == plan.Write {
		rights = ^probe.FS(0)
	}
	if !n.Object.Dir {
		rights &= probe.FSFile
	}
	return rights & m.rights.FS
}
