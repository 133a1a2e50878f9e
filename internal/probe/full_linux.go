// SPDX-License-Identifier: Apache-2.0

package probe

import "context"

// childRunner runs a probe child to its end.
type childRunner func(context.Context, childSpec) outcome

// attempts is a host that can also be tried out.
type attempts struct {
	host
	run   childRunner
	clone func(childSpec) error // makes namespaces and nothing else
}

// Full finds out everything that helps an operator. What would change this
// process is tried in short-lived children, each of which gets five seconds at
// most; all of it takes some tens of milliseconds. It needs Dispatch at the
// start of the calling program.
//
// An error means that this is not a system that can be asked at all. What
// could not be found out is in the report as Unknown. A cancelled ctx makes
// what was not yet tried Unknown.
func Full(ctx context.Context) (*Report, error) {
	return attempts{thisHost(), runChild, tryClone}.full(ctx)
}

func (a attempts) full(ctx context.Context) (*Report, error) {
	// First in a child: a filter may answer a call by killing, and then this
	// process must not make it.
	calls := tryCalls(ctx, a.run)
	facts, err := a.sparing(killedCalls(calls)).quick()
	if err != nil {
		return nil, err
	}
	r := &Report{Facts: facts, Settings: a.settings(), Errata: facts.Unfixed()}
	domain, layers := tryLandlock(ctx, a.run)
	r.Layers = layers

	r.add(facts.Landlock, facts.SeccompFilter, facts.UserNotif, facts.WaitKillable, facts.ReadMemory)
	r.add(rightResults(facts)...)
	r.add(erratumResults(facts)...)
	r.add(domain)
	r.add(tryListener(ctx, a.run)...)
	r.add(tryMemory(ctx, a.run), a.tryProc(), a.tryCgroup())
	r.add(a.tryNamespaces(ctx, r.Settings)...)
	r.add(calls...)
	return r, nil
}

func (r *Report) add(results ...Result) { r.Results = append(r.Results, results...) }
