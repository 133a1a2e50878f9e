// SPDX-License-Identifier: Apache-2.0

// Package probe finds out what this host can enforce. It asks the kernel by
// calls that change nothing, or by a real attempt in a short-lived child, and
// never concludes anything from the system's name or version.
//
// [Quick] gathers the few facts that every run needs, [Full] every fact that
// helps an operator. Nothing is remembered between calls, so an answer that
// was inconclusive once can't stick.
package probe

// Verdict is the answer to one question about the host. The zero value is
// Unknown, so that a forgotten answer never reads as a yes.
type Verdict int

const (
	Unknown Verdict = iota // it could not be found out; never to be taken for a yes
	No
	Yes
)

// String returns "yes", "no" or "cannot tell".
func (v Verdict) String() string {
	switch v {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "cannot tell"
}

// MarshalText makes the verdict a word in JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
