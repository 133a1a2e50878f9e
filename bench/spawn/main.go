// SPDX-License-Identifier: Apache-2.0

// Command spawn starts its arguments as a command, waits for it, and does
// nothing else: the least that any Go program in front of a command costs.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: spawn FILE [ARG...]")
		os.Exit(2)
	}
	p, err := os.StartProcess(os.Args[1], os.Args[1:], &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "spawn:", err)
		os.Exit(125)
	}
	state, err := p.Wait()
	if err != nil {
		fmt.Fprintln(os.Stderr, "spawn:", err)
		os.Exit(125)
	}
	os.Exit(state.ExitCode())
}
