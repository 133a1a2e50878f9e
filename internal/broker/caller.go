// SPDX-License-Identifier: Apache-2.0

package broker

import "strings"

// gitSubcommand finds the subcommand in Git's arguments as /proc/PID/cmdline
// has them, each with a NUL behind it. It is empty if it is no plain word: all
// other arguments may hold what is nobody's business.
func gitSubcommand(cmdline string) string {
	args := strings.Split(strings.TrimSuffix(cmdline, "\x00"), "\x00")
	for i := 1; i < len(args); i++ {
		switch a := args[i]; {
		case takesValue[a]:
			i++
		case strings.HasPrefix(a, "-"):
		case len(a) <= maxSubcommand && strings.Trim(a, "abcdefghijklmnopqrstuvwxyz-") == "":
			return a
		default:
			return ""
		}
	}
	return ""
}

// maxSubcommand is more than the longest of Git's has ("credential-cache--daemon").
const maxSubcommand = 24

// takesValue are options before the subcommand whose value is the next argument
// (git(1), OPTIONS).
var takesValue = map[string]bool{
	"-C": true, "-c": true, "--git-dir": true, "--work-tree": true, "--namespace": true,
	"--super-prefix": true, "--config-env": true, "--attr-source": true,
}
