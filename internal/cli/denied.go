// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
)

// denied says in one line what the sandbox refused a command that failed, by
// which rule, and what would let it through. Whether that made the command
// fail only the command knows: the line says what was refused, and names a
// grant only for what may have to do with the end.
func (a *App) denied(r *ambit.Receipt) {
	if len(r.Inferred) > 0 { // nothing on record explains the failure
		a.inferred(r)
		return
	}
	total := len(r.Denials) + r.DenialsDropped
	if total == 0 {
		a.unrecorded(r)
		return
	}
	var suspects []denial.Denial
	if r.DenialsDropped == 0 { // those that were dropped came last
		suspects = denial.Suspects(r.Denials, time.Duration(r.Durations.Run*float64(time.Millisecond)))
	}
	if len(suspects) == 0 {
		a.complain("the sandbox refused " + calls(total) + "; whether the failure comes from that is not known: --receipt FILE lists what was refused")
		return
	}
	text := describe(&suspects[len(suspects)-1]) + remedy(suspects)
	if more := total - len(suspects); more > 0 {
		text += fmt.Sprintf(" (%s more refused: --receipt FILE lists them)", calls(more))
	}
	a.complain(text)
}

// inferred says which closed paths the command itself names as refused.
func (a *App) inferred(r *ambit.Receipt) {
	for i := range r.Inferred {
		a.complain(r.Inferred[i].String())
	}
}

// unrecorded says that there is no record to look at, where that is so.
func (a *App) unrecorded(r *ambit.Receipt) {
	recorded := r.Brokered != nil && r.Brokered.Files
	if o := r.Outcome; !recorded && o.Executed && o.Signal == 0 && !o.TimedOut {
		a.complain("under this policy the kernel refuses files by itself and leaves no record; whether the failure comes from that is not known")
	}
}

// describe says what was refused, and by which rule.
func describe(d *denial.Denial) string {
	object := d.Object
	if object == "" {
		object = d.Named
	}
	text := fmt.Sprintf("the sandbox refused %s of %s (%s): ", d.Call, strconv.Quote(object), d.Errno)
	switch {
	case d.Reason != "":
		return text + d.Reason
	case d.Rule != nil:
		return text + fmt.Sprintf("%s has %s %s", d.Rule.Origin, d.Rule.Kind, strconv.Quote(d.Rule.Path))
	case d.Object != "":
		return text + "no rule grants it"
	}
	return text + "it is outside of the sandbox"
}

// mostFlags is how many grants still are one suggestion. Whoever needs more
// needs another policy.
const mostFlags = 4

// remedy says what would let all of some refused calls of one process through,
// the last of which was described.
func remedy(list []denial.Denial) string {
	flags := denial.Flags(list)
	switch last := list[len(list)-1].Grant; {
	case len(flags) > 0 && len(flags) <= mostFlags && len(list) == 1:
		return "; " + strings.Join(flags, " ") + " would lift that"
	case len(flags) > 0 && len(flags) <= mostFlags:
		return fmt.Sprintf("; %s would lift that and %s more of the same process", strings.Join(flags, " "), calls(len(list)-1))
	case last != nil && last.Flag == "":
		return "; " + last.Keep
	case len(list) == 1:
		return ""
	}
	return fmt.Sprintf("; %s of the same process were refused: --receipt FILE lists them", calls(len(list)))
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}
