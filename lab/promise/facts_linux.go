// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// landlockCreateRuleset is the number of landlock_create_ruleset(2) on every
// architecture; the package syscall was frozen before it.
const landlockCreateRuleset = 444

func gather() (f Facts, err error) {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return f, fmt.Errorf("cannot read the kernel's release: %w", err)
	}
	f.Release = strings.TrimSpace(string(release))
	f.UID = os.Getuid()
	f.ABI, f.ABIErr = askABI()
	if f.AppArmor, err = appArmorLabel(); err != nil {
		return f, err
	}
	f.NewUser = attempt(syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}, "true")
	f.NewMount = attempt(syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, Unshareflags: syscall.CLONE_NEWNS}, "true")
	f.Helper = attempt(syscall.SysProcAttr{}, "bwrap", "--ro-bind", "/", "/", "--tmpfs", "/mnt", "true")
	return f, nil
}

// askABI asks as landlock_create_ruleset(2) describes: no attributes, the flag
// LANDLOCK_CREATE_RULESET_VERSION, which is 1.
func askABI() (int, error) {
	abi, _, errno := syscall.Syscall(landlockCreateRuleset, 0, 0, 1)
	if errno != 0 {
		return 0, errno
	}
	return int(abi), nil
}

// appArmorLabel is "" on a kernel that runs without AppArmor.
func appArmorLabel() (string, error) {
	enabled, err := os.ReadFile("/sys/module/apparmor/parameters/enabled")
	if err != nil || strings.TrimSpace(string(enabled)) != "Y" {
		return "", nil
	}
	label, err := os.ReadFile("/proc/self/attr/apparmor/current")
	if err != nil {
		return "", fmt.Errorf("cannot read the AppArmor label: %w", err)
	}
	return strings.TrimSpace(string(label)), nil
}

func attempt(how syscall.SysProcAttr, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.SysProcAttr = &how
	return command.Run()
}
