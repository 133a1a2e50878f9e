// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/policy"
)

const (
	// messagesKept is how much of the end of stderr is looked at.
	messagesKept = 8 << 10
	// mostInferred is how many paths are told.
	mostInferred = 3
)

// infer looks for paths that the command named on stderr as refused and that
// the policy closes. What Landlock refuses leaves no other trace that this
// user can read: audit records need CAP_AUDIT_READ (capabilities(7)).
func (r *runner) infer() {
	if r.plan == nil || r.stderr == nil || !r.unexplained() {
		return
	}
	i := &inference{r: r, host: hostpath.New(), on: r.places()}
	for _, m := range denial.Messages(r.stderr.Lines()) {
		for _, name := range m.Names {
			if len(r.receipt.Inferred) < mostInferred {
				i.look(&m, name)
			}
		}
	}
}

// unexplained reports whether the command failed by itself, and no recorded
// refusal may be why.
func (r *runner) unexplained() bool {
	o := r.receipt.Outcome
	if o == nil || o.ExitCode == 0 || !o.Executed || o.Signal != 0 || o.TimedOut || o.Cancelled || o.Lost {
		return false
	}
	lasted := time.Duration(r.receipt.Durations.Run * float64(time.Millisecond))
	return r.receipt.DenialsDropped > 0 || len(denial.Suspects(r.receipt.Denials, lasted)) == 0
}

// inference looks at the names in one run's messages.
type inference struct {
	r    *runner
	host *hostpath.Resolver
	on   *denial.Places
}

// look adds a name if the policy closes what it leads to, and this user could
// have it without the sandbox.
func (i *inference) look(m *denial.Message, name string) {
	obj, ok := i.find(name)
	if !ok || denial.Recorded(i.r.receipt.Denials, obj.Path) {
		return
	}
	node := i.r.plan.Tree.Find(obj.Path)
	access := closed(node, m.Access, obj.Exists)
	if access == "" || !permitted(&obj, access, m.Call) {
		return
	}
	d := denial.Denial{Call: m.Call, Object: obj.Path, Access: access}
	if node != nil && !(access == denial.Read && node.Rule.Kind == policy.BlockedWrite) {
		d.Rule = &node.Rule
	}
	found := denial.Inferred{Named: name, Path: obj.Path, Access: access, Rule: d.Rule, Grant: denial.GrantFor(&d, i.on)}
	same := func(old denial.Inferred) bool { return old.Path == found.Path && old.Access == found.Access }
	if !slices.ContainsFunc(i.r.receipt.Inferred, same) {
		i.r.receipt.Inferred = append(i.r.receipt.Inferred, found)
	}
}

// find resolves a name. The directory that a relative one starts from is
// taken to be the first one of the command, which may have changed it: such a
// name counts only where something stands. So does one with "~/". What stands
// in /proc is another thing for each process.
func (i *inference) find(name string) (plan.Object, bool) {
	whole := name
	switch rest, home := strings.CutPrefix(name, "~/"); {
	case home && i.r.names.home == "":
		return plan.Object{}, false
	case home:
		whole = i.r.names.home + "/" + rest
	case !path.IsAbs(name):
		whole = i.r.plan.WorkDir.Path + "/" + name
	}
	if !path.IsAbs(whole) || inProc(path.Clean(whole)) {
		return plan.Object{}, false
	}
	obj, err := i.host.Resolve(whole)
	return obj, err == nil && !inProc(obj.Path) && (obj.Exists || whole == name)
}

func inProc(name string) bool { return strings.HasPrefix(name+"/", "/proc/") }

// closed says what a node of the tree closes of what a message wanted. Where
// the message doesn't say that, it is the least that is closed. Reading what is
// missing fails with ENOENT, so that was not what was refused.
func closed(n *plan.Node, wanted denial.Access, exists bool) denial.Access {
	mode := plan.None
	if n != nil {
		mode = n.Mode
	}
	switch {
	case mode == plan.Write, mode == plan.Read && wanted == denial.Read, wanted == denial.Read && !exists:
		return ""
	case mode == plan.Read, !exists:
		return denial.Write
	case wanted == "":
		return denial.Read
	}
	return wanted
}

// The modes of access(2), R_OK, W_OK and X_OK (unistd.h).
const (
	execOK  = 1
	writeOK = 2
	readOK  = 4
)

// permitted reports whether the system gives this user the access: else the
// system has refused it, sandbox or not. A name is made and removed by a right
// on its directory.
func permitted(obj *plan.Object, a denial.Access, call string) bool {
	switch {
	case call != "" || !obj.Exists:
		return syscall.Access(path.Dir(obj.Path), writeOK|execOK) == nil
	case a == denial.Write:
		return syscall.Access(obj.Path, writeOK) == nil
	}
	return syscall.Access(obj.Path, readOK) == nil
}
