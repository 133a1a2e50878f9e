// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"fmt"
	"strconv"

	"github.com/ambit-sandbox/ambit/policy"
)

// Inferred is a path that a failed command named on stderr as refused, and
// that the policy closes. It is inferred from the message, not recorded: the
// kernel doesn't tell what Landlock refuses, and a program can print what it
// likes.
type Inferred struct {
	// Named is the path as the message names it.
	Named string `json:"named"`
	// Path is its canonical name.
	Path string `json:"path"`
	// Access is what the policy closes of it: what the message says was
	// wanted, or else the least that the policy does not grant.
	Access Access `json:"access"`
	// Rule is the listed path that decides, nil if no rule covers the path.
	Rule *policy.PathRule `json:"rule,omitempty"`
	// Grant is the least that would open it, nil where nothing in a policy
	// would.
	Grant *Grant `json:"grant,omitempty"`
}

// String says in one line what is inferred, and that it is no more.
func (i *Inferred) String() string {
	object := strconv.Quote(i.Named)
	if i.Path != i.Named {
		object += " (" + strconv.Quote(i.Path) + ")"
	}
	by := "no rule grants it"
	if i.Rule != nil {
		by = fmt.Sprintf("%s has %s %s", i.Rule.Origin, i.Rule.Kind, strconv.Quote(i.Rule.Path))
	}
	act := map[Access]string{Read: "reading", Write: "writing"}[i.Access]
	return "its message names " + object + ", which the policy closes for " + act + " (" + by + ")" + i.remedy() + " (inferred, not recorded)"
}

func (i *Inferred) remedy() string {
	switch g := i.Grant; {
	case g == nil:
		return ""
	case g.Flag == "":
		return "; " + g.Keep
	default:
		return "; " + g.Flag + " would open it"
	}
}

// Recorded reports whether a refusal of a path is on record, or is one of what
// programs do without. Then there is nothing to infer.
func Recorded(list []Denial, path string) bool {
	for i := range list {
		if list[i].Object == path {
			return true
		}
	}
	return isOptional(&Denial{Object: path})
}
