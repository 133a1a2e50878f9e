// SPDX-License-Identifier: Apache-2.0

// Command bench measures what ambit costs, as ratios within one run. It never
// fails on a time, only on what can't be measured. See README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// bench is one run of the benchmarks.
type bench struct {
	out          io.Writer
	ambit, spawn string
	// dir is scratch space; project, in it, is the working directory.
	dir, project string
	// rounds is how often the start-up comparison goes round.
	rounds int
}

// section is one group of measurements.
type section struct {
	name string
	run  func(*bench) error
}

// sections lists them in the order in which they run.
func sections() []section {
	return []section{
		{"start", (*bench).start},
		{"stages", (*bench).stages},
		{"work", (*bench).work},
		{"nested", (*bench).nested},
		{"siblings", (*bench).siblings},
		{"service", (*bench).service},
		{"memory", (*bench).memory},
	}
}

func main() {
	b := &bench{out: os.Stdout}
	only := flag.String("only", "", "run these `SECTIONS` alone, separated by commas")
	flag.StringVar(&b.ambit, "ambit", "", "the `FILE` to measure")
	flag.StringVar(&b.spawn, "spawn", "", "the `FILE` built from bench/spawn")
	flag.IntVar(&b.rounds, "rounds", 200, "rounds of the start-up comparison")
	flag.Parse()
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(only string) error {
	dir, err := os.MkdirTemp("", "ambit-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if b.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	b.project = filepath.Join(b.dir, "project")
	if err := os.Mkdir(b.project, 0o755); err != nil {
		return err
	}
	b.describe()
	for _, s := range sections() {
		if only != "" && !strings.Contains(","+only+",", ","+s.name+",") {
			continue
		}
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// describe says where the figures come from.
func (b *bench) describe() {
	fmt.Fprintf(b.out, "%s, kernel %s, %d processors, uid %d\n", runtime.Version(), kernel(), runtime.NumCPU(), os.Getuid())
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Fprintf(b.out, "load before: %s", load)
	}
}

// kernel returns the running kernel's release.
func kernel() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}
