// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strconv"
	"strings"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/policy"
)

// listedStatus are the fates of a listed path of which the user must know: the
// run has less than was asked for.
var listedStatus = map[string]string{
	"missing":    "does not exist, so nothing is granted there",
	"unreadable": "can't be looked up, so nothing is granted there",
}

// listed says of which listed paths nothing came, once for each. Built-in ones
// are absent on most hosts, and a block holds for what is missing too.
func (a *App) listed(r *ambit.Receipt) {
	said := map[string]bool{}
	for _, p := range r.Paths {
		what := listedStatus[p.Status]
		grant := p.Kind == policy.Read || p.Kind == policy.Write
		if what == "" || !grant || said[p.Path] || strings.HasPrefix(p.Origin, "built-in ") {
			continue
		}
		said[p.Path] = true
		a.complain(p.Origin + ": " + strconv.Quote(p.Path) + " " + what)
	}
}
