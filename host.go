// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"context"
	"os"
	"time"

	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/policy"
)

// Host is what a host can enforce, and the proof of it.
type Host struct {
	// Works: a real command ran in a real sandbox, of the kind that a run
	// under the default policy gets, and was confined.
	Works bool `json:"works"`
	// Backend would be chosen, or is the one that can't be used.
	Backend string `json:"backend,omitempty"`
	// Reason says why this backend, or why none.
	Reason string `json:"reason"`
	// Kernel is the running kernel's release, LandlockABI its ABI or 0.
	Kernel      string `json:"kernel"`
	LandlockABI int    `json:"landlock_abi"`
	// Coverage says what enforces each item of the contract here.
	Coverage []CoverageLine `json:"coverage,omitempty"`
	// Blockers are what stands in the way, and what would remove it.
	Blockers []HostBlocker `json:"blockers,omitempty"`
	// Facts are the answers to single questions, each by a real attempt
	// where there is one.
	Facts []HostFact `json:"facts"`
	// Settings are values of the host: evidence, no verdicts.
	Settings []HostSetting `json:"settings"`
	// Errata are known faults of this kernel's Landlock.
	Errata []string `json:"errata,omitempty"`
	// Took is how long the sandboxed command took, in milliseconds.
	Took float64 `json:"took_ms,omitempty"`
}

// HostFact is the answer to one question about the host.
type HostFact struct {
	Name string `json:"name"`
	// Since is the Linux release that brought the feature, if it is a matter
	// of releases.
	Since string `json:"since,omitempty"`
	Doc   string `json:"doc"`
	// Verdict is "yes", "no" or "cannot tell", which is never a yes.
	Verdict string `json:"verdict"`
	Detail  string `json:"detail,omitempty"`
}

// HostBlocker is one thing that stands in the way of enforcing a policy.
type HostBlocker struct {
	Problem string `json:"problem"`
	// Remedy is what an administrator could change, as narrow as possible.
	Remedy string `json:"remedy"`
	// Stops is "every run" or "the broker".
	Stops string `json:"stops"`
}

// HostSetting is a value of the host.
type HostSetting struct {
	Name string `json:"name"`
	// State is "set", "absent" or "unreadable".
	State string `json:"state"`
	Value string `json:"value,omitempty"`
}

// Probe looks at the host and runs a real sandboxed command that checks its
// own confinement. The error means that the host could not be looked at.
func Probe(ctx context.Context) (*Host, error) {
	report, err := probe.Full(ctx)
	if err != nil {
		return nil, err
	}
	h := &Host{Kernel: report.Facts.Kernel, LandlockABI: report.Facts.ABI}
	for _, r := range report.Results {
		h.Facts = append(h.Facts, HostFact{string(r.Name), r.Since, r.Doc, r.Verdict.String(), r.Detail})
	}
	for _, b := range report.Blockers() {
		h.Blockers = append(h.Blockers, HostBlocker{b.Problem, b.Remedy, string(b.Stops)})
	}
	for _, s := range report.Settings {
		h.Settings = append(h.Settings, HostSetting{s.Name, string(s.State), s.Value})
	}
	for _, e := range report.Errata {
		h.Errata = append(h.Errata, e.Title+": "+e.Unfixed)
	}
	h.prove(ctx)
	return h, nil
}

// proofTime bounds the sandboxed command.
const proofTime = 60 * time.Second

// prove runs this very binary in a sandbox of the default kind. It needs
// nothing but itself: a container may hold no other program.
func (h *Host) prove(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		h.Reason = "this program's own file can't be found: " + err.Error()
		return
	}
	var out limitedText
	c := Proof(exe)
	c.Stdout, c.Stderr = &out, &out
	res, err := Run(ctx, c)
	h.Backend, h.Coverage = res.Receipt.Backend, res.Receipt.Coverage
	switch {
	case err != nil:
		h.Reason = err.Error()
	case res.ExitCode != 0:
		h.Reason = "a sandboxed command did not do what it should: " + string(out) + res.Receipt.Outcome.ExecError
	default:
		h.Works = true
		h.Reason = "it enforces every item of the default policy, and a command ran in it"
		h.Took = res.Receipt.Durations.Setup + res.Receipt.Durations.Run
	}
}

// Proof is the command that [Probe] runs: exe, a program that calls [Dispatch]
// first, in a sandbox of the default kind. It exits with 0 if it is confined,
// and says on stdout what is missing otherwise.
func Proof(exe string) *Command {
	tmp := true
	return &Command{
		Argv: []string{exe, noopArg},
		Layers: []policy.Layer{{Name: "doctor", Policy: policy.Policy{
			Extends: policy.System, PrivateTmp: &tmp, ReadPaths: []string{policy.Literal(exe)},
		}}},
	}
}

// limitedText keeps the first line's worth of output.
type limitedText []byte

func (t *limitedText) Write(b []byte) (int, error) {
	*t = append(*t, b[:min(len(b), 512-min(len(*t), 512))]...)
	return len(b), nil
}
