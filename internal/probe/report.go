// SPDX-License-Identifier: Apache-2.0

package probe

// Report is everything that could be found out about a host.
type Report struct {
	Facts *Facts `json:"facts"`
	// Results holds one answer per feature, in a fixed order: the facts
	// first, then each right that Landlock can have, then what was tried.
	Results []Result `json:"results"`
	// Layers tells how deep this process already sits in Landlock domains.
	Layers Layers `json:"landlock_layers"`
	// Errata lists the known errata that the kernel does not call fixed.
	Errata []Erratum `json:"landlock_unfixed_errata,omitempty"`
	// Settings are values of the host and of this process: evidence for
	// people, no verdict.
	Settings Settings `json:"settings"`
}

// Result returns the answer about a feature; the zero Result, whose verdict
// is Unknown, if there is none.
func (r *Report) Result(name Name) Result {
	for _, x := range r.Results {
		if x.Name == name {
			return x
		}
	}
	return Result{Feature: Feature{Name: name}}
}
