// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// nothing is a command that does nothing: what stands before it is all that
// is measured.
const nothing = "/bin/true"

// start compares what stands before a command that does nothing.
func (b *bench) start() error {
	subjects := []subject{
		{name: "bare fork and exec", argv: []string{nothing}, dir: b.project},
		{name: "a Go program, spawning it", argv: []string{b.spawn, nothing}, dir: b.project},
		{name: "ambit run", argv: b.inside(nothing), dir: b.project},
		{name: "ambit version (runs nothing)", argv: []string{b.ambit, "version"}, dir: b.project},
	}
	base := 1
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		base = len(subjects)
		subjects = append(subjects, subject{name: "bubblewrap", argv: b.bubblewrap(bwrap, nothing), dir: b.project})
	} else {
		fmt.Fprintln(b.out, "\nbubblewrap is not installed: not compared")
	}
	times, err := compare(subjects, b.rounds)
	if err != nil {
		return err
	}
	table(b.out, "Start-up of "+nothing, subjects, times, base)
	return nil
}

// inside is a command within ambit's default policy.
func (b *bench) inside(command ...string) []string {
	return append([]string{b.ambit, "run", "--"}, command...)
}

// bubblewrap gives a policy as near to ambit's default as namespaces allow:
// the system readable, the project writable, a private /tmp, an own view of
// devices and processes, no network, and the end with the parent.
func (b *bench) bubblewrap(bwrap string, command ...string) []string {
	argv := []string{bwrap,
		"--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc",
		"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
		"--bind", b.project, b.project, "--chdir", b.project,
		"--unshare-all", "--die-with-parent",
	}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if target, err := os.Readlink(name); err == nil {
			argv = append(argv, "--symlink", target, name)
		} else if _, err := os.Stat(name); err == nil {
			argv = append(argv, "--ro-bind", name, name)
		}
	}
	return append(append(argv, "--"), command...)
}

// stages reports where ambit itself says that its time goes.
func (b *bench) stages() error {
	file := filepath.Join(b.dir, "receipt.json")
	var plan, setup, run, sweep, rest []float64
	whole := subject{name: "ambit run", argv: []string{b.ambit, "run", "--receipt", file, "--", nothing}, dir: b.project}
	for range b.rounds / 2 {
		took, err := whole.once()
		if err != nil {
			return err
		}
		r, err := receiptIn(file)
		if err != nil {
			return err
		}
		d := r.Durations
		plan, setup = append(plan, d.Plan), append(setup, d.Setup)
		run, sweep = append(run, d.Run), append(sweep, d.Sweep)
		rest = append(rest, float64(took.Nanoseconds())/1e6-d.Plan-d.Setup-d.Run-d.Sweep)
	}
	fmt.Fprintf(b.out, "\nWhere a run's time goes, by its own receipt (%d runs; ms, median, quartiles)\n", len(plan))
	for _, line := range []struct {
		name   string
		values []float64
	}{
		{"plan: policy to ruleset and filter", plan}, {"setup: from there to the execve", setup},
		{"run: the command itself", run}, {"sweep: until nothing is left", sweep},
		{"outside the receipt: start and exit", rest},
	} {
		fmt.Fprintf(b.out, "  %-36s %s\n", line.name, spreadOf(line.values))
	}
	return nil
}
