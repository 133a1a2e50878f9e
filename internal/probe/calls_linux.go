// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"slices"
	"strconv"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// callRefusals is for calls whose arguments the kernel can find no fault
// with, so that a refusal is a filter's, or a security module's.
var callRefusals = refusals{
	{syscall.ENOSYS, "not in this kernel, or hidden by a seccomp filter"},
	{syscall.EOPNOTSUPP, "built into the kernel, but not started at boot"},
	{syscall.EPERM, byFilter},
	{syscall.EACCES, byFilter},
}

// callsChild tries the calls of sys.Attempts, from the given index on.
func callsChild(t teller, args []string) {
	from := 0
	if len(args) == 1 {
		from, _ = strconv.Atoi(args[0])
	}
	all := sys.Attempts()
	for _, a := range all[min(max(from, 0), len(all)):] {
		_ = t.try(a.Call, a.Try)
	}
}

// tryCalls tries each system call that a run needs. A filter may answer by
// killing; the calls after it then are tried by another child.
func tryCalls(ctx context.Context, run childRunner) []Result {
	var results []Result
	all := sys.Attempts()
	for from := 0; from < len(all); {
		o := run(ctx, childSpec{name: "calls", args: []string{strconv.Itoa(from)}})
		heard := 0
		for _, a := range all[from:] {
			answer, ok := o.answer(a.Call)
			if !ok && o.badCall {
				break // it was killed before this one
			}
			results = append(results, callResult(a.Call, answer))
			heard++
		}
		if from += heard; heard == 0 {
			break // killed without a word: nothing more to learn
		}
	}
	for _, a := range all[len(results):] {
		results = append(results, callResult(a.Call, errUnheard))
	}
	return results
}

func callResult(call string, answer error) Result {
	r := Result{Feature: featureIn(callFeatures, callName(call)), Err: answer}
	r.Verdict, r.Detail = callRefusals.judge(answer)
	return r
}

// killedCalls names the system calls that would end this process.
func killedCalls(results []Result) []Name {
	var out []Name
	for _, r := range results {
		if r.Err == errKilled {
			out = append(out, r.Name)
		}
	}
	return out
}

// sparing returns a host that does not make the calls that would end this
// process, and answers errKilled in their place.
func (h host) sparing(killed []Name) host {
	if slices.Contains(killed, callName("landlock_create_ruleset")) {
		h.landlockABI = func() (int, error) { return 0, errKilled }
		h.landlockErrata = func() (uint32, error) { return 0, errKilled }
	}
	if slices.Contains(killed, callName("seccomp")) {
		h.filterFlags = func(uintptr) error { return errKilled }
		h.notifSizes = func() (NotifSizes, error) { return NotifSizes{}, errKilled }
	}
	return h
}
