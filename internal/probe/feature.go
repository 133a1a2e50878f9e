// SPDX-License-Identifier: Apache-2.0

package probe

// Name identifies a feature. Names are stable: they appear in JSON and in
// receipts.
type Name string

// Feature is one thing that a host may offer.
type Feature struct {
	Name Name `json:"name"`
	// Since is the mainline Linux release that brought it, empty if it is
	// no matter of a version. It explains an answer and never decides one.
	Since string `json:"since,omitempty"`
	// Doc says in one line what the feature is for.
	Doc string `json:"doc"`
}

// Features that every run looks at.
const (
	FeatLandlock      Name = "landlock"
	FeatSeccompFilter Name = "seccomp.filter"
	FeatUserNotif     Name = "seccomp.user_notif"
	FeatWaitKillable  Name = "seccomp.wait_killable_recv"
	FeatReadMemory    Name = "ptrace.read_memory"
)

// quickFeatures describes the features that every run looks at.
var quickFeatures = []Feature{
	{FeatLandlock, "5.13", "restricts files, ports and signals without privileges"},
	{FeatSeccompFilter, "3.17", "refuses system calls by number and argument"},
	{FeatUserNotif, "5.0", "lets the broker decide calls that Landlock does not cover"},
	{FeatWaitKillable, "5.19", "keeps a signal from making a brokered call happen twice"},
	{FeatReadMemory, "", "lets the broker read the paths that brokered calls name"},
}

// featureIn returns the feature with this name. A name missing from the table
// is a mistake of ours; it keeps its name, so that the answer is not lost.
func featureIn(table []Feature, name Name) Feature {
	for _, f := range table {
		if f.Name == name {
			return f
		}
	}
	return Feature{Name: name}
}
