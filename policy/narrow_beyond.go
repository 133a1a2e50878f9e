// SPDX-License-Identifier: Apache-2.0

package policy

import "strconv"

// beyond finds the first of network and limits of which a policy asks for more
// than a bound allows.
func beyond(asked, bound *Resolved) error {
	if asked.AllowNetwork && !bound.AllowNetwork {
		return tooMuch("allow_network", "the network")
	}
	return asked.Limits.beyond(bound.Limits)
}

// beyond finds a limit that is above the bound's.
func (l Limits) beyond(bound Limits) error {
	if l.Timeout != nil && bound.Timeout != nil && *l.Timeout > *bound.Timeout {
		return tooMuch("limits.timeout", "limits.timeout above "+bound.Timeout.String())
	}
	mine, theirs := l.amounts(), bound.amounts()
	for i := range mine {
		have, most := *mine[i].value, *theirs[i].value
		if have != nil && most != nil && *have > *most {
			field := "limits." + mine[i].field
			return tooMuch(field, field+" above "+strconv.FormatInt(*most, 10))
		}
	}
	return nil
}

func tooMuch(field, what string) error {
	return &Error{Field: field, Msg: "the policy asks for more than is allowed here: " + what, Hint: "leave it out"}
}
