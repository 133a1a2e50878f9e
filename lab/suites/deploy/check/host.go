// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// patience bounds every wait; under emulation much takes long, and nothing is
// expected to take this.
const patience = 10 * time.Minute

// call runs a program of the host and returns what it says and its exit code;
// -1 if it did not end by itself.
func call(name string, args ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		return err.Error(), -1
	}
	return string(out), c.ProcessState.ExitCode()
}

// property is one of the service's unit.
func property(name string) string {
	out, _ := call("systemctl", "--user", "show", "--property", name, "--value", "ambitd.service")
	return strings.TrimSpace(out)
}

// until waits until something holds.
func until(what string, holds func() bool) error {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if holds() {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("cannot wait any longer until %s", what)
		}
	}
}

// holders are the processes of this user that have a text among their
// arguments or in their environment, by their number.
func holders(text string) (map[int]string, error) {
	found := map[int]string{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(dirs) == 0 {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		for _, part := range []string{"cmdline", "environ"} {
			// one that has ended meanwhile, or another user's, is none
			if b, err := os.ReadFile(filepath.Join(dir, part)); err == nil && bytes.Contains(b, []byte(text)) {
				args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
				found[pid] += part + " of " + string(bytes.ReplaceAll(args, []byte{0}, []byte{' '})) + "; "
			}
		}
	}
	return found, nil
}
