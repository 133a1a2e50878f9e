// SPDX-License-Identifier: Apache-2.0

package probe

import "strconv"

// Errata is a set of fixed Landlock errata: bit n-1 stands for erratum n.
type Errata uint32

// Has tells whether the kernel says that it has the fix of erratum n. False
// can also mean that the kernel is too old to be asked.
func (e Errata) Has(n int) bool { return n > 0 && e>>(n-1)&1 == 1 }

// MarshalText writes the mask as the kernel's documentation does, in
// hexadecimal.
func (e Errata) MarshalText() ([]byte, error) {
	return []byte("0x" + strconv.FormatUint(uint64(e), 16)), nil
}

// Erratum is one known fault of Landlock and what it means for a sandbox on a
// kernel without its fix.
type Erratum struct {
	Number int    `json:"number"`
	ABI    int    `json:"abi"` // the first ABI that has the fault
	Title  string `json:"title"`
	// Unfixed says what differs on a kernel without the fix.
	Unfixed string `json:"unfixed"`
	// Weaker marks a fault that lets a sandbox do more than its rules say.
	// The others make the kernel stricter, or want another right.
	Weaker bool `json:"weaker"`
}

// errataTable lists the errata of security/landlock/errata/ in Linux 7.3.
//
// None of them lowers Rights. The kernel's documentation warns that leaving a
// feature unused because its erratum is not fixed can end in less protection
// (Documentation/userspace-api/landlock.rst, "Landlock errata"), and it would
// here: without the two scopes of ABI 6 a command could signal the user's
// other processes. Erratum 2, for which go-landlock goes down to ABI 5, bites
// only where the threads of one process have different domains. Ambit
// restricts a process that has a single thread and then executes the
// command, so all of its threads inherit one domain.
var errataTable = []Erratum{
	{1, 4, "TCP socket identification",
		"the TCP rights also restrict MPTCP, SMC and SCTP sockets", false},
	{2, 6, "scoped signal handling",
		"threads of one process that restricted themselves apart can't signal each other", false},
	{3, 1, "disconnected directories",
		"a directory moved out of a bind mount by others can gain rights through rename or link", true},
	{4, 1, "creation of whiteouts",
		"making an OverlayFS whiteout needs make_char instead of make_reg", false},
}

// Unfixed returns the known errata that an ABI can have and that the mask
// does not call fixed, in order of their numbers.
func (f *Facts) Unfixed() []Erratum {
	var out []Erratum
	for _, e := range errataTable {
		if f.ABI >= e.ABI && !f.Errata.Has(e.Number) {
			out = append(out, e)
		}
	}
	return out
}
