// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"fmt"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Guard is the domain around a command's own, in which the launcher is. It
// scopes signals and abstract unix sockets: from within it, both reach the
// command's tree and nothing else. nil is no such domain.
type Guard struct {
	ruleset *os.File
	// Scope is a thread of this process in the domain, where the broker
	// needs one; or nil.
	Scope *broker.Scope
}

// NewGuard makes the guard domain of one run, nil where the kernel can't.
// Where Landlock does not restrict connecting to unix sockets (below ABI 9),
// the broker connects, and to abstract ones from a thread in the domain.
func NewGuard(r probe.Rights) (*Guard, error) {
	if !Guards(r) {
		return nil, nil
	}
	ruleset, err := guardRuleset()
	if err != nil {
		return nil, err
	}
	g := &Guard{ruleset: ruleset}
	if r.FS&probe.FSResolveUnix == 0 {
		if g.Scope, err = broker.NewScope(int(ruleset.Fd())); err != nil {
			g.Close()
			return nil, err
		}
	}
	return g, nil
}

// guardRuleset handles moving files between folders only to allow it
// everywhere: every domain of a stack denies that unless a rule of its own
// allows it (landlock(7), LANDLOCK_ACCESS_FS_REFER).
func guardRuleset() (*os.File, error) {
	fd, err := sys.LandlockCreateRuleset(sys.Ruleset{
		FS: uint64(probe.FSRefer), Scoped: uint64(probe.ScopeSignal | probe.ScopeAbstractUnix),
	})
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "guard ruleset")
	root, err := sys.OpenPath("/")
	if err == nil {
		err = sys.LandlockAllow(fd, uint64(probe.FSRefer), root)
		_ = syscall.Close(root)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("cannot make the launcher's ruleset: %w", err)
	}
	return f, nil
}

// on runs f on the thread that is to start the launcher.
func (g *Guard) on(f func()) {
	if g == nil || g.Scope == nil {
		f()
		return
	}
	g.Scope.Do(f)
}

func (g *Guard) mode() child.Guard {
	switch {
	case g == nil:
		return child.NoGuard
	case g.Scope == nil:
		return child.EnterGuard
	}
	return child.InheritGuard
}

// pass is the ruleset that the launcher enters by itself, or -1.
func (g *Guard) pass() int {
	if g.mode() == child.EnterGuard {
		return int(g.ruleset.Fd())
	}
	return -1
}

// Close ends the thread and closes the ruleset.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	_ = g.ruleset.Close()
	if g.Scope != nil {
		g.Scope.Close()
	}
}
