// SPDX-License-Identifier: Apache-2.0

package probe

// Rights is everything that one Landlock ABI can restrict or be told.
type Rights struct {
	FS       FS       `json:"fs"`
	Net      Net      `json:"net"`
	Scope    Scope    `json:"scope"`
	Restrict Restrict `json:"restrict"` // flags of landlock_restrict_self
	AddRule  AddRule  `json:"add_rule"` // flags of landlock_add_rule
}

// abiStep is what one ABI added to the one before it.
type abiStep struct {
	since string // the mainline release that brought it, for people
	adds  Rights
}

// abiTable is the only place that knows what a Landlock ABI can do; index 0
// is ABI 1. Everything else asks RightsOf. The release never decides: vendor
// kernels carry backported ABIs, so the number that the kernel returns is the
// only truth.
//
// Sources are listed line by line in docs/kernel-facts.md.
var abiTable = []abiStep{
	{since: "5.13", adds: Rights{FS: FSRefer - 1}}, // the thirteen first bits
	{since: "5.19", adds: Rights{FS: FSRefer}},
	{since: "6.2", adds: Rights{FS: FSTruncate}},
	{since: "6.7", adds: Rights{Net: NetBindTCP | NetConnectTCP}},
	{since: "6.10", adds: Rights{FS: FSIoctlDev}},
	{since: "6.12", adds: Rights{Scope: ScopeAbstractUnix | ScopeSignal}},
	{since: "6.15", adds: Rights{Restrict: RestrictLogSameExecOff | RestrictLogNewExecOn | RestrictLogSubdomainsOff}},
	{since: "7.0", adds: Rights{Restrict: RestrictTSync}},
	{since: "7.1", adds: Rights{FS: FSResolveUnix}},
	{since: "7.2", adds: Rights{Net: NetBindUDP | NetConnectSendUDP, AddRule: AddRuleQuiet}},
	{since: "7.3", adds: Rights{Restrict: RestrictNoNewPrivs}},
}

// NewestABI is the newest Landlock ABI that this program knows.
func NewestABI() int { return len(abiTable) }

// RightsOf returns what the given ABI offers. An ABI newer than NewestABI
// offers at least what that one does, since ABIs only grow; 0 or less offers
// nothing.
func RightsOf(abi int) Rights {
	var r Rights
	for i := range min(max(abi, 0), len(abiTable)) {
		r = r.or(abiTable[i].adds)
	}
	return r
}

// abiOf returns the first ABI that offers all of want, and its release; 0 if
// none does.
func abiOf(want Rights) (abi int, since string) {
	var r Rights
	for i, step := range abiTable {
		if r = r.or(step.adds); r.or(want) == r {
			return i + 1, step.since
		}
	}
	return 0, ""
}

func (r Rights) or(o Rights) Rights {
	return Rights{
		FS:       r.FS | o.FS,
		Net:      r.Net | o.Net,
		Scope:    r.Scope | o.Scope,
		Restrict: r.Restrict | o.Restrict,
		AddRule:  r.AddRule | o.AddRule,
	}
}
