// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// memory reports the peak resident memory of ambit's own two processes: after
// a command that does nothing, and after one that keeps the broker busy.
func (b *bench) memory() error {
	if err := files(filepath.Join(b.project, "tree"), 2000); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nPeak resident memory (VmHWM, MiB)\n  %-44s %-12s %s\n", "", "supervisor", "launcher")
	for _, load := range []struct {
		name    string
		command []string
	}{
		{"sleep 0.3", []string{"sleep", "0.3"}},
		{"cp -rp of 2,000 files (brokered), sleep 0.3", []string{"sh", "-c", "cp -rp tree copy && rm -r copy && sleep 0.3"}},
	} {
		supervisor, launcher, err := b.peaks(load.command)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "  %-44s %-12.1f %.1f\n", load.name, supervisor, launcher)
	}
	return os.RemoveAll(filepath.Join(b.project, "tree"))
}

// peaks samples both processes until the run ends, and returns the last
// values: a peak only grows.
func (b *bench) peaks(command []string) (supervisor, launcher float64, err error) {
	argv := b.inside(command...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = b.project
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err == nil && (supervisor == 0 || launcher == 0) {
				err = errors.New("cannot read the peaks from /proc")
			}
			return supervisor, launcher, err
		case <-time.After(20 * time.Millisecond):
		}
		if v, ok := peak(cmd.Process.Pid); ok {
			supervisor = v
		}
		if v, ok := peak(onlyChild(cmd.Process.Pid)); ok {
			launcher = v
		}
	}
}

// peak reads VmHWM in MiB (proc_pid_status(5)). The commands of others in the
// tree are not asked: ok is false for a process that is not ambit.
func peak(pid int) (mib float64, ok bool) {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil || filepath.Base(exe) != "ambit" {
		return 0, false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(f[1], 64)
			return kib / 1024, err == nil
		}
	}
	return 0, false
}

// onlyChild returns a process's child, of which the supervisor has one.
func onlyChild(pid int) int {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range names {
		b, _ := os.ReadFile(name)
		if f := strings.Fields(string(b)); len(f) > 0 {
			child, _ := strconv.Atoi(f[0])
			return child
		}
	}
	return 0
}
