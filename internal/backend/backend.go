// SPDX-License-Identifier: Apache-2.0

// Package backend is what turns a plan into restrictions that a kernel
// enforces: the interface that each mechanism implements, the coverage report
// that it owes for every item of the plan, and the choice between them.
package backend

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
)

// Backend is one way to confine a command.
type Backend interface {
	// Name is the stable name in receipts and flags.
	Name() string
	// Assess says, from probed facts alone, what would enforce each item of
	// the plan. It changes nothing. A blocked backend is an error that says
	// why it can't be used on this host at all.
	Assess(p *plan.Plan, f *probe.Facts) (Coverage, error)
	// Creates reports whether a command can make what stands at a plan's new
	// places ([plan.Tree.NewPlaces]). Where it can't, they are not granted.
	Creates(f *probe.Facts) bool
	// Confine makes what the launcher installs. It enforces at least what
	// Assess promised, or fails. streams are the files that the command
	// inherits as they are: it may open them again by name (/dev/stderr), as
	// far as they are open already.
	Confine(p *plan.Plan, f *probe.Facts, streams []*os.File) (*Confinement, error)
}

// Confinement is what the launcher installs into the command.
type Confinement struct {
	// Ruleset is the Landlock ruleset of the command.
	Ruleset *os.File
	// RestrictFlags goes to landlock_restrict_self(2).
	RestrictFlags uint32
	// Filter is the seccomp program, FilterFlags its flags.
	Filter      []byte
	FilterFlags uint32
	// FilterConfig is what the program was made of.
	FilterConfig seccomp.Config
	// Brokered says that the filter has a listener, which the supervisor
	// must serve.
	Brokered bool
	// Files is what the broker must know to decide over files, where the
	// plan has places with less than the folder around them, or new places; nil
	// elsewhere.
	Files *broker.Files
}

// Close closes the descriptors and removes what was kept for the run. The
// broker has ended before.
func (c *Confinement) Close() {
	if c.Files != nil {
		c.Files.Stock.Close()
	}
	if c.Ruleset != nil {
		_ = c.Ruleset.Close()
	}
}

// Over tells that the broker has ended, and that no process of the command is
// left: what was kept for the run may serve another one. Close follows.
func (c *Confinement) Over() {
	if c.Files != nil {
		c.Files.Stock.Leave()
	}
}

// Verdict is how far an item is enforced.
type Verdict string

const (
	// Enforced: exactly as the contract says.
	Enforced Verdict = "enforced"
	// Weakened: the mechanism bounds less exactly than the contract says;
	// Reason tells how. It never lets the command out of its file, network
	// or process boundaries.
	Weakened Verdict = "weakened"
	// NotEnforced: nothing on this host does it. It stops the run unless the
	// policy accepts it.
	NotEnforced Verdict = "not enforced"
)

// Line is the report on one item.
type Line struct {
	plan.Ask
	Verdict Verdict `json:"verdict"`
	// Mechanism enforces it.
	Mechanism string `json:"mechanism,omitempty"`
	// Reason says why an item is weakened or not enforced, or what else an
	// enforced one costs the command.
	Reason string `json:"reason,omitempty"`
	// Accepted: the policy names this item as one that may be missing.
	Accepted bool `json:"accepted,omitempty"`
}

// Coverage reports on every item of a plan, in the plan's order.
type Coverage []Line

// Gaps returns the lines that stop the run.
func (c Coverage) Gaps() []Line {
	var out []Line
	for _, l := range c {
		if l.Verdict != Enforced && l.Verdict != Weakened && !l.Accepted {
			out = append(out, l)
		}
	}
	return out
}

// Line returns the report on an item that has no subject; the zero Line if
// the plan does not ask it.
func (c Coverage) Line(i plan.Item) Line {
	for _, l := range c {
		if l.Item == i {
			return l
		}
	}
	return Line{}
}

// ErrUnavailable is matched by every error that means: no sandbox of the kind
// that was asked for can be made here, and nothing ran.
var ErrUnavailable = errors.New("SANDBOX_UNAVAILABLE")

// UnavailableError says which backend failed and why.
type UnavailableError struct {
	Backend string
	// Gaps are the items that it can't enforce, if that is the reason.
	Gaps []Line
	// Err is the failure otherwise.
	Err error
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: the %s backend ", ErrUnavailable, e.Backend)
	if len(e.Gaps) == 0 {
		fmt.Fprintf(&b, "cannot be used: %v", e.Err)
		return b.String()
	}
	b.WriteString("cannot enforce what the policy asks:")
	for i, g := range e.Gaps {
		if i == 8 {
			fmt.Fprintf(&b, "\n  and %d more", len(e.Gaps)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s", g.Item)
		if g.Subject != "" {
			fmt.Fprintf(&b, " (%s)", g.Subject)
		}
		fmt.Fprintf(&b, ": %s", g.Reason)
	}
	return b.String()
}

// Is matches [ErrUnavailable].
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

// Unwrap returns the failure.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Choice is a backend that enforces a plan, and how.
type Choice struct {
	Backend  Backend
	Coverage Coverage
}

// Select returns the first of the candidates (strongest first) that leaves no
// gap. Otherwise the error says what the nearest one lacks.
func Select(candidates []Backend, p *plan.Plan, f *probe.Facts) (*Choice, error) {
	err := error(&UnavailableError{Backend: "missing", Err: errors.New("this system has none")})
	for i, b := range candidates {
		c, assessErr := b.Assess(p, f)
		if assessErr == nil && len(c.Gaps()) == 0 {
			return &Choice{b, c}, nil
		}
		if i == 0 {
			err = &UnavailableError{Backend: b.Name(), Gaps: c.Gaps(), Err: assessErr}
		}
	}
	return nil, err
}
