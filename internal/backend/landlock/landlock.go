// SPDX-License-Identifier: Apache-2.0

// Package landlock confines a command with a Landlock ruleset and a seccomp
// filter, without privileges and without namespaces.
package landlock

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
)

// Backend implements [backend.Backend].
type Backend struct{}

// Name returns "landlock".
func (Backend) Name() string { return "landlock" }

// mechanisms is what the facts allow on this host. Coverage and confinement
// are both derived from it, so neither can promise what the other lacks.
type mechanisms struct {
	facts  *probe.Facts
	rights probe.Rights
	// broker says that calls can be handed to the supervisor; noBroker why
	// not.
	broker   bool
	noBroker string
	filter   seccomp.Config
	cgroup   plan.Cgroup
	// searches are the patterns because of which only those files can be
	// executed that a search finds.
	searches map[string]bool
	// copies: what the command makes at a new place can have no rule to be
	// executed by.
	copies bool
	// unfound are the blocks of files that may have more names than are known.
	unfound map[string]bool
	// device is a place that grants reading a device to which ioctl(2) may do
	// something; empty if there is none.
	device string
}

// blocked says why the backend can't be used here at all.
func blocked(f *probe.Facts) error {
	for _, need := range []probe.Result{f.Landlock, f.SeccompFilter} {
		if need.Usable() {
			continue
		}
		err := need.Err
		if err == nil {
			err = errors.New(need.Detail)
		}
		if need.Detail != "" && need.Err != nil {
			return fmt.Errorf("%s: %s (%w)", need.Name, need.Detail, err)
		}
		return fmt.Errorf("%s: %w", need.Name, err)
	}
	return nil
}

// derive decides, once, how each call that Landlock may not cover is treated.
func derive(p *plan.Plan, f *probe.Facts) mechanisms {
	m := mechanisms{facts: f, rights: f.Rights, cgroup: p.Cgroup}
	m.noBroker = brokerBlocker(f)
	m.broker = m.noBroker == ""
	if p.Network == plan.OpenNetwork {
		m.filter.Network = seccomp.NetworkOpen
	}
	m.filter.Metadata = m.brokered(p, plan.FilesMetadata)
	if m.broker {
		m.filter.Reads = seccomp.Notify
		m.filter.Refusals = seccomp.RefusalsTrapped
	}
	m.filter.UnixConnect = seccomp.Allow
	m.filter.UnixDatagram = seccomp.Allow
	if m.rights.FS&probe.FSResolveUnix == 0 && !p.Accept[string(plan.UnixPathname)] {
		m.filter.UnixConnect = m.brokered(p, plan.UnixPathname)
		m.filter.UnixDatagram = seccomp.Refuse
	}
	m.filter.PathTruncate = seccomp.Allow
	if m.rights.FS&probe.FSTruncate == 0 {
		m.filter.PathTruncate = m.brokered(p, plan.FilesTruncate)
	}
	m.filter.Files, m.searches = m.filesOf(p), searched(p)
	m.unfound = p.Unfound
	m.copies = m.broker && slices.ContainsFunc(p.Tree.NewPlaces(), func(n plan.NewPlace) bool { return n.Around == plan.None })
	m.device = readableDevice(p.Tree)
	m.filter.Signals = seccomp.Allow
	if m.rights.Scope&probe.ScopeSignal == 0 {
		m.filter.Signals = m.brokered(p, plan.ProcessSignal)
	}
	if p.Accept[string(plan.ProcessIPC)] {
		m.filter.SharedIPC = seccomp.Allow
	}
	m.filter.Landlock = m.landlockInside()
	return m
}

// landlockInside says what becomes of a program that confines itself further.
// What a domain can hold on an ABI newer than the newest one that this program
// knows, the broker could undo without knowing it.
func (m *mechanisms) landlockInside() seccomp.Verdict {
	switch {
	case !m.notifies():
		return seccomp.Allow
	case m.facts.ABI > probe.NewestABI():
		return seccomp.Refuse
	}
	return seccomp.Notify
}

// filesOf says which calls on files go to the broker: none, where every place
// has at least what the folder around it has, and those with more stand already. What the broker leaves to the
// kernel Landlock must cover: all but truncation where it has no right for it,
// which PathTruncate deals with.
func (m *mechanisms) filesOf(p *plan.Plan) seccomp.Files {
	files := seccomp.FilesNative
	if !m.broker {
		return files
	}
	for _, e := range p.Tree.Exceptions() {
		if e.Mode == plan.None {
			return seccomp.FilesAll
		}
		files = seccomp.FilesWrites
	}
	for _, pattern := range p.Tree.Patterns() {
		if pattern.Mode == plan.None {
			return seccomp.FilesAll
		}
		files = seccomp.FilesWrites
	}
	for _, n := range p.Tree.NewPlaces() {
		if n.Around == plan.None {
			return seccomp.FilesAll
		}
		files = seccomp.FilesWrites
	}
	return files
}

// brokered hands a call to the broker. Where there is none, the call is
// refused: the item then is a gap, unless the policy accepts it to be open.
func (m *mechanisms) brokered(p *plan.Plan, item plan.Item) seccomp.Verdict {
	switch {
	case m.broker:
		return seccomp.Notify
	case p.Accept[string(item)]:
		return seccomp.Allow
	}
	return seccomp.Refuse
}

// brokerBlocker says why no call can be handed to the supervisor.
func brokerBlocker(f *probe.Facts) string {
	for _, need := range []probe.Result{f.UserNotif, f.WaitKillable, f.ReadMemory} {
		if !need.Usable() {
			return string(need.Name) + ": " + need.Detail
		}
	}
	return ""
}

// notifies reports whether the filter hands any call on.
func (m *mechanisms) notifies() bool {
	f := m.filter
	return f.Refusals == seccomp.RefusalsTrapped || f.Metadata == seccomp.Notify || f.Reads == seccomp.Notify || f.UnixConnect == seccomp.Notify ||
		f.Signals == seccomp.Notify || f.PathTruncate == seccomp.Notify || f.Files != seccomp.FilesNative
}
