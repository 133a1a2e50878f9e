// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/broker"
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
	if err == nil && c.Files != nil {
		c.Files.Streams, err = identities(streams)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (m *mechanisms) confine(p *plan.Plan, c *backend.Confinement) (err error) {
	var files *broker.Files
	if c.Ruleset, files, err = m.ruleset(p); err != nil {
		return err
	}
	if m.filter.Files != seccomp.FilesNative {
		c.Files = files
		if err := m.layIn(p, c); err != nil {
			return err
		}
	}
	// The kernel's audit is to name denials after the exec too: without the
	// flag a sandboxed command's denials leave no record.
	c.RestrictFlags = uint32(m.rights.Restrict & probe.RestrictLogNewExecOn)
	program, err := seccomp.Compile(runtime.GOARCH, m.filter)
	if err != nil {
		return err
	}
	c.Filter, c.FilterConfig = program.Bytes(), m.filter
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
func (m *mechanisms) ruleset(p *plan.Plan) (*os.File, *broker.Files, error) {
	host := hostpath.New()
	defer host.Close()
	if err := spelled(p.Tree, host.Spelled); err != nil {
		return nil, nil, err
	}
	l, err := lower(p.Tree, m.access, host.List)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list a folder that holds places with less access: %w", err)
	}
	fd, err := sys.LandlockCreateRuleset(m.handled(p))
	if err != nil {
		return nil, nil, err
	}
	executable := map[broker.Inode]bool{}
	f := os.NewFile(uintptr(fd), "ruleset")
	for _, g := range l.grants {
		err := m.allow(fd, host, g)
		if g.listed && err != nil && vanished(err) {
			delete(l.native, inodeOf(g.object))
			continue
		}
		if err != nil {
			_ = f.Close()
			return nil, nil, err
		}
		if read := m.access(plan.Read) & probe.FSFile; !g.object.Dir && g.rights&read == read {
			executable[inodeOf(g.object)] = true
		}
	}
	return f, &broker.Files{
		Native: l.native, Matched: l.matched, Executable: executable, Truncate: m.rights.FS&probe.FSTruncate != 0,
	}, nil
}

// vanished reports whether an object that was found by listing a folder is not
// there any more. It then has no rule, and what stands there now, if anything,
// is the broker's.
func vanished(err error) bool {
	return errors.Is(err, hostpath.ErrChanged) || errors.Is(err, syscall.ENOENT) ||
		errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// allow adds one rule, on the very object that was seen before.
func (m *mechanisms) allow(ruleset int, host *hostpath.Resolver, g grant) error {
	fd, err := host.Open(g.object)
	if err != nil {
		return fmt.Errorf("cannot add a rule: %w", err)
	}
	defer func() { _ = syscall.Close(fd) }()
	access := g.rights
	if !g.object.Dir {
		access &= probe.FSFile // EINVAL otherwise (landlock_add_rule(2))
	}
	if access == 0 {
		return nil // a symbolic link or the like: nothing to grant
	}
	if err := sys.LandlockAllow(ruleset, uint64(access), fd); err != nil {
		return fmt.Errorf("cannot add a rule for %q: %w", g.object.Path, err)
	}
	return nil
}

// access is what a mode means in this ABI's rights.
func (m *mechanisms) access(mode plan.Mode) probe.FS {
	switch mode {
	case plan.Read:
		return (probe.FSExecute | probe.FSReadFile | probe.FSReadDir) & m.rights.FS
	case plan.Write:
		return m.rights.FS
	}
	return 0
}
