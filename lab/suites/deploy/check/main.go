// SPDX-License-Identifier: Apache-2.0

// Command check deploys Ambit's service for the user who calls it, and holds
// the deployed service against what it promises, one thing after the other.
// It is also the provider that commands ask, and the command that asks it.
package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func main() {
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case "deployment":
			os.Exit(deployment(os.Args[2]))
		case "provider":
			os.Exit(complain(provide(os.Args[2])))
		case "ask":
			os.Exit(ask(os.Args[2]))
		}
	}
	if len(os.Args) == 2 && os.Args[1] == "compile" {
		os.Exit(complain(compile()))
	}
	fmt.Fprintln(os.Stderr, "usage: check deployment SUITE | provider DIR | ask DIR | compile")
	os.Exit(2)
}

func complain(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		return 1
	}
	return 0
}

// compile does what a just-in-time compiler does.
func compile() error {
	b, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("cannot get memory to compile into: %w", err)
	}
	return errors.Join(syscall.Munmap(b))
}
