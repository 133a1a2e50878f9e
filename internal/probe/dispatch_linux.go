// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"os"
	"runtime"
	"time"
)

// childArg is the hidden first argument that makes this program a probe
// child. It gives nobody more than he has: a child only tells what it may do.
const childArg = "__probe"

// children are the programs of probe children.
var children = map[string]func(t teller, args []string){
	"calls":    callsChild,
	"landlock": landlockChild,
	"layers":   layersChild,
	"listener": listenerChild,
	"memory":   memoryChild,
	"mount":    mountChild,
	"proc":     procChild,
	"network":  networkChild,
}

// Dispatch runs this process as a probe child if args, the command line
// without the program's name, ask for one. The main function calls it before
// anything else, and so does a test program that calls Full; if it returns
// true, the process ends with the exit status at once.
func Dispatch(args []string) (handled bool, exit int) {
	if len(args) < 2 || args[0] != childArg {
		return false, 0
	}
	run, ok := children[args[1]]
	if !ok {
		return true, 2
	}
	// What a child does to itself (filters, domains) holds for one thread.
	runtime.LockOSThread()
	// A parent that was killed can't end the child any more.
	time.AfterFunc(childTime, func() { os.Exit(3) })
	run(newTeller(os.Stdout), args[2:])
	return true, 0
}
