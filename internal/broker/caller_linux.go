// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// elapsed is the time since the broker was made, which is when the command
// starts, in milliseconds.
func (b *Broker) elapsed() float64 { return float64(time.Since(b.began).Microseconds()) / 1000 }

// caller returns the process that makes the call and what it calls itself, for
// a reader of the record. Nothing is decided by either. They are empty if the
// caller is gone, or can't be looked into.
func (t *task) caller() (process int, program string) {
	// Not kept open: who is refused need not come again.
	text, err := sys.ReadSmallFile("/proc/" + t.proc("status"))
	if err != nil {
		return 0, ""
	}
	_, after, _ := strings.Cut(text, "\nTgid:\t")
	line, _, _ := strings.Cut(after, "\n")
	process, err = strconv.Atoi(line)
	if err != nil {
		return 0, ""
	}
	name := "/proc/" + line
	program, err = sys.ReadSmallFile(name + "/comm")
	if program = strings.TrimSuffix(program, "\n"); program == "git" {
		program = withSubcommand(program, name)
	}
	if err != nil || t.alive() != 0 { // the number may be another's by now
		return 0, ""
	}
	return process, program
}

// withSubcommand adds Git's subcommand to its name, if it can be told.
func withSubcommand(program, proc string) string {
	args, err := sys.ReadSmallFile(proc + "/cmdline")
	if sub := gitSubcommand(args); err == nil && sub != "" {
		return program + " " + sub
	}
	return program
}
