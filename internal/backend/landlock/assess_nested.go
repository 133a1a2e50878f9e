// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
)

// nested is a place with less than the folder around it, or a pattern of such
// places. Landlock rules alone can't say it: they only add.
func (m *mechanisms) nested(abi, subject string) backend.Line {
	const why = "it has less access than the folder around it, Landlock rules can only add, and "
	switch {
	case !m.broker:
		return missing(why + "the broker can't be used: " + m.noBroker)
	case m.unfound[subject]:
		return missing(fmt.Sprintf("it closes a file with several names (hard links), and not all that may lie in what is granted were found among %d files and directories within %v: "+
			"a copy in place of the file has one name", plan.LinkEntries, plan.LinkTime))
	case m.searches[subject]:
		return costs(abi+" rules around it, and the broker", fmt.Sprintf(
			"in folders where it can match, %s, which also goes for what is not among the first %d found there, or not found within %v; files with several names can't be executed",
			copied(), searchEntries, searchTime))
	case m.filter.Files == seccomp.FilesAll:
		return costs(abi+" rules around it, and the broker", "in folders on the way to it "+copied())
	}
	return enforced(abi + " rules around it, and the broker")
}

// copied is what becomes of files that have no rule, and are executed.
func copied() string {
	return fmt.Sprintf("files that are made during the run are copied when they are first executed, and at most %d of them can be", filesInStore)
}

// searched returns the patterns for which executable files are looked for.
func searched(p *plan.Plan) map[string]bool {
	out := map[string]bool{}
	for _, pattern := range p.Tree.Patterns() {
		if pattern.Mode == plan.None && pattern.Deep() {
			out[pattern.Path] = true
		}
	}
	return out
}
