// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"

	"github.com/ambit-sandbox/ambit"
)

// denied says in one line what the sandbox refused a command that failed, by
// which rule, and what would let it through: the last refusal on record, since
// what came before it the command went on from.
func (a *App) denied(r *ambit.Receipt) {
	if len(r.Denials) == 0 {
		return
	}
	d := r.Denials[len(r.Denials)-1]
	object := d.Object
	if object == "" {
		object = d.Named
	}
	text := fmt.Sprintf("the sandbox refused %s of %s (%s): ", d.Call, strconv.Quote(object), d.Errno)
	switch {
	case d.Reason != "":
		text += d.Reason
	case d.Rule != nil:
		text += fmt.Sprintf("%s has %s %s", d.Rule.Origin, d.Rule.Kind, strconv.Quote(d.Rule.Path))
	case d.Object != "":
		text += "no rule grants it"
	default:
		text += "it is outside of the sandbox"
	}
	switch g := d.Grant; {
	case g == nil:
	case g.Flag != "":
		text += "; " + g.Flag + " would lift that"
	default:
		text += "; " + g.Keep
	}
	if more := len(r.Denials) - 1 + r.DenialsDropped; more > 0 {
		text += fmt.Sprintf(" (%d refused before it: --receipt FILE lists them)", more)
	}
	a.complain(text)
}
