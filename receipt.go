// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"sort"
	"time"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/policy"
)

// ReceiptVersion is the version of the receipt's format. Fields may be added
// to a version; none changes its meaning.
const ReceiptVersion = 1

// Receipt says what was asked of a run, what enforced it, and how the run
// ended. It holds no secret's value.
type Receipt struct {
	Version int       `json:"version"`
	Started time.Time `json:"started"`
	// Code is empty if the command was started.
	Code Code `json:"code,omitempty"`
	// Error says what failed, if Code is set.
	Error string `json:"error,omitempty"`

	// Backend enforced the policy; with [CodeUnavailable] it is the one that
	// could not.
	Backend string `json:"backend,omitempty"`
	Kernel  string `json:"kernel,omitempty"`
	// LandlockABI is the kernel's; 0 if it has none.
	LandlockABI int `json:"landlock_abi"`
	// PolicyDigest identifies the resolved policy.
	PolicyDigest string `json:"policy_digest,omitempty"`
	// BoundDigest identifies the policy that said what could be had at most;
	// empty where none did.
	BoundDigest string `json:"bound_digest,omitempty"`
	// Coverage reports on every item of the plan.
	Coverage []CoverageLine `json:"coverage,omitempty"`
	// Paths are the listed paths, without the built-in ones that are absent.
	Paths []PathReceipt `json:"paths,omitempty"`
	// WorkDir is the command's working directory.
	WorkDir string `json:"work_dir,omitempty"`

	Outcome   *Outcome  `json:"outcome,omitempty"`
	Durations Durations `json:"durations"`
	// Denials are the calls that the broker refused, those that the filter
	// trapped only to be recorded among them; DenialsDropped counts those
	// beyond what is kept. What Landlock refuses is not among them, nor what
	// the filter refuses bare (docs/seccomp.md).
	Denials        []denial.Denial `json:"denials,omitempty"`
	DenialsDropped int             `json:"denials_dropped,omitempty"`
	// NetworkDenied says in one sentence that the policy closes the network and
	// that the command tried to use it; empty if it did not.
	NetworkDenied string `json:"network_denied,omitempty"`
	// Inferred are paths that a failed command named on stderr as refused and
	// that the policy closes, at most three, where nothing on record explains
	// the failure and stderr went through the supervisor. None of them is
	// recorded.
	Inferred []denial.Inferred `json:"inferred,omitempty"`
	// Brokered counts the calls that the broker was asked about, if there was
	// one.
	Brokered *Brokered `json:"brokered,omitempty"`
	// TmpLeft says why the private temporary folder could not be removed.
	TmpLeft string `json:"tmp_left,omitempty"`
	// BrokerFault tells of a fault of the broker itself. The calls that it
	// concerned were refused.
	BrokerFault string `json:"broker_fault,omitempty"`
}

// Brokered counts calls that stopped the command until the broker had looked.
// All other calls of a command went to the kernel without a stop.
type Brokered struct {
	Handed int64 `json:"handed"`
	// Kernel are those that the kernel then decided by its own rules, Answered
	// those that the broker made, or refused.
	Kernel   int64 `json:"kernel"`
	Answered int64 `json:"answered"`
	// Files says that calls which open, make or remove files came to the broker
	// where no rule of the kernel's decides. Without that the kernel refuses
	// them by itself, and there is no record of it.
	Files bool `json:"files"`
}

// PathReceipt is the fate of one listed path.
type PathReceipt struct {
	Path      string      `json:"path"`
	Kind      policy.Kind `json:"kind"`
	Origin    string      `json:"origin"`
	Canonical string      `json:"canonical,omitempty"`
	// Status is "enforced", "missing" or "unreadable"; "creatable" is a path
	// for writing where nothing stands and the command may make what does,
	// "narrowed" a built-in path of which the bound allows less, "untrusted"
	// one that a link leads to which a sandboxed command could have made.
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// Outcome is how the command ended.
type Outcome struct {
	// ExitCode is the command's own, 128+n for signal n, 124 for a timeout,
	// 126 and 127 for a command that can't be executed or found.
	ExitCode int `json:"exit_code"`
	// Signal is the signal that ended the command; 0 is none.
	Signal   int  `json:"signal,omitempty"`
	TimedOut bool `json:"timed_out,omitempty"`
	// Cancelled: the caller ended the run.
	Cancelled bool `json:"cancelled,omitempty"`
	// Executed: the command's execve succeeded.
	Executed bool `json:"executed"`
	// ExecError says why not.
	ExecError string `json:"exec_error,omitempty"`
	// Lost: the launcher or the supervisor was killed while the command ran,
	// so how the command would have ended is not known. ExitCode is then 137.
	Lost bool `json:"lost,omitempty"`
	// CPUExceeded: the command's processes together had used up its processor
	// time, and were killed. ExitCode is then 152. Only a control group tells;
	// without one each process has the limit by itself (RLIMIT_CPU).
	CPUExceeded bool `json:"cpu_exceeded,omitempty"`
	// MemoryKills counts the processes that the kernel killed because the
	// command had reached its memory limit; the command itself may go on, or
	// have been one of them. Only a control group tells.
	MemoryKills int `json:"memory_kills,omitempty"`
	// Left: processes of the tree may be there still, since the kernel held
	// them against SIGKILL, or since the launcher was killed and this process
	// is not the one that they fell to.
	Left bool `json:"left,omitempty"`
	// Stdout and Stderr count bytes, if the output went through the
	// supervisor.
	Stdout *OutputCount `json:"stdout,omitempty"`
	Stderr *OutputCount `json:"stderr,omitempty"`
}

// OutputCount counts the bytes of one stream.
type OutputCount struct {
	Bytes int64 `json:"bytes"`
	// Discarded bytes were beyond the limit; the command was not disturbed.
	Discarded int64 `json:"discarded"`
}

// Durations are in milliseconds.
type Durations struct {
	// Plan is the time to resolve the policy, look at the host and choose.
	Plan float64 `json:"plan_ms"`
	// Setup is the time from there until the command was executed.
	Setup float64 `json:"setup_ms"`
	// Run is the command's own time.
	Run float64 `json:"run_ms"`
	// Sweep is the time to end what the command left.
	Sweep float64 `json:"sweep_ms"`
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (r *Receipt) host(f *probe.Facts) {
	r.Kernel, r.LandlockABI = f.Kernel, f.ABI
}

// redact replaces secrets in everything that the command, or an error about
// it, had a part in: it may have put them into names.
func (r *Receipt) redact(by *Redactor) {
	r.Error, r.BrokerFault = by.Redact(r.Error), by.Redact(r.BrokerFault)
	if r.Outcome != nil {
		r.Outcome.ExecError = by.Redact(r.Outcome.ExecError)
	}
	for i := range r.Denials {
		d := &r.Denials[i]
		object := d.Object
		d.Named, d.Object, d.Program = by.Redact(d.Named), by.Redact(object), by.Redact(d.Program)
		if d.Object != object {
			d.Grant = nil // it would name a secret, or another object
		}
	}
	for i := range r.Inferred {
		n := &r.Inferred[i]
		path := n.Path
		n.Named, n.Path = by.Redact(n.Named), by.Redact(path)
		if n.Path != path {
			n.Grant = nil
		}
	}
}

func (r *Receipt) plan(p *plan.Plan) {
	r.WorkDir = p.WorkDir.Path
	r.Paths = listedPaths(p)
}

func listedPaths(p *plan.Plan) []PathReceipt {
	out := make([]PathReceipt, 0, len(p.Listed))
	for _, l := range p.Listed {
		pr := PathReceipt{Path: l.Path, Kind: l.Kind, Origin: l.Origin, Canonical: l.Canonical, Status: string(l.Status)}
		if l.Err != nil {
			pr.Reason = l.Err.Error()
		}
		out = append(out, pr)
	}
	return out
}

// secretNames lists the names of a policy's secret variables, sorted.
func secretNames(r *policy.Resolved) []string {
	names := make([]string, 0, len(r.Secrets))
	for name := range r.Secrets {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
