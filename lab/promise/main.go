// SPDX-License-Identifier: Apache-2.0

// Command promise checks that a VM of the kernel lab is the one which the job
// says, and becomes the job's command if so. A job on another kernel than
// promised thus fails, instead of testing something else or skipping.
//
// The command gets AMBIT_EXPECT_KERNEL, what the kernel's release begins
// with, and AMBIT_EXPECT_ABI, the Landlock ABI as a number, 0 for none.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func main() {
	var p Promise
	flag.StringVar(&p.Release, "release", "", "what the kernel's release begins with")
	flag.StringVar(&p.ABI, "abi", "", "Landlock's ABI: N, N+, ENOSYS or EOPNOTSUPP")
	flag.IntVar(&p.UID, "uid", 999, "who runs the job")
	flag.StringVar(&p.AppArmor, "apparmor", "unconfined", "the AppArmor label")
	flag.StringVar(&p.Userns, "userns", "full", "full, helper, powerless or refused")
	flag.Parse()
	if err := keep(p, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "promise:", err)
		os.Exit(125)
	}
}

func keep(p Promise, command []string) error {
	facts, err := gather()
	if err != nil {
		return err
	}
	if err := p.Judge(facts); err != nil {
		return fmt.Errorf("broken:\n%w", err)
	}
	fmt.Printf("promise kept: kernel %s, Landlock ABI %d, uid %d, AppArmor %q, user namespaces %s\n",
		facts.Release, facts.ABI, facts.UID, facts.AppArmor, p.Userns)
	return become(command, append(os.Environ(),
		"AMBIT_EXPECT_KERNEL="+p.Release, "AMBIT_EXPECT_ABI="+strconv.Itoa(facts.ABI)))
}

func become(command, environ []string) error {
	if len(command) == 0 {
		return nil
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("cannot find the job's command: %w", err)
	}
	if err := syscall.Exec(path, command, environ); err != nil {
		return fmt.Errorf("cannot execute %s: %w", path, err)
	}
	return nil
}
