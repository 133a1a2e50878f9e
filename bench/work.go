// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// work is a job that is run inside and outside.
type work struct {
	name string
	// tool must be installed.
	tool    string
	command []string
	// prepare lays out what it works on; dir is made for it.
	prepare func(b *bench, dir string) error
	rounds  int
	// before is run before each time that is taken, outside.
	before []string
}

// works are long enough to show what the restrictions cost a command that is
// under way.
func works() []work {
	return []work{
		{"10 x git status in 5,000 files", "git", []string{"sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do git status; done"}, gitRepository, 11, nil},
		{"5 x find in 20,000 files", "find", []string{"sh", "-c", "for i in 1 2 3 4 5; do find . -size +1000k; done"}, manyFiles, 11, nil},
		{"go build of 40 packages, one changed", "go", []string{"sh", "-c", "echo \"package p7; const Changed = $(date +%s%N)\" > p7/changed.go && go build ./..."}, goModule, 11, nil},
		{"cp -rp and rm -r of 2,000 files", "cp", []string{"sh", "-c", "cp -rp tree copy && rm -r copy"}, copyTree, 11, nil},
	}
}

// work compares each work with itself, inside and outside.
func (b *bench) work() error {
	for _, w := range works() {
		if _, err := exec.LookPath(w.tool); err != nil {
			fmt.Fprintf(b.out, "\n%s is not installed: not compared\n", w.tool)
			continue
		}
		dir := filepath.Join(b.project, w.tool)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := w.prepare(b, dir); err != nil {
			return fmt.Errorf("cannot prepare %s: %w", w.name, err)
		}
		receipt := filepath.Join(b.dir, "receipt.json")
		within := func(flags ...string) []string {
			argv := append([]string{b.ambit, "run", "--env", "GOCACHE", "--env", "GOTELEMETRY", "--receipt", receipt}, flags...)
			return append(append(argv, "--"), w.command...)
		}
		closed, frozen := filepath.Join(dir, "closed"), filepath.Join(dir, "frozen")
		subjects := []subject{
			{name: "outside", argv: w.command, dir: dir},
			{name: "inside, start-up included", argv: within(), dir: dir},
			{name: "inside, the command alone", argv: within(), dir: dir, receipt: receipt},
			{name: "  with a write block in the folder", argv: within("--block-write", frozen), dir: dir, receipt: receipt},
			{name: "  with a read block in the folder", argv: within("--block", closed), dir: dir, receipt: receipt},
		}
		times, err := compare(subjects, w.rounds)
		if err != nil {
			return err
		}
		table(b.out, w.name, subjects, times, 0)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// files makes folders of 100 small files each.
func files(dir string, count int) error {
	for i := range count {
		sub := filepath.Join(dir, fmt.Sprintf("d%03d", i/100))
		if i%100 == 0 {
			if err := os.MkdirAll(sub, 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%02d", i%100)), []byte(strings.Repeat("x", i%512)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func manyFiles(_ *bench, dir string) error { return files(dir, 20000) }

func copyTree(_ *bench, dir string) error { return files(filepath.Join(dir, "tree"), 2000) }

func gitRepository(_ *bench, dir string) error {
	if err := files(dir, 5000); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "files"},
	} {
		if err := command(dir, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

func goModule(_ *bench, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module bench.invalid/m\n\ngo 1.24\n"), 0o644); err != nil {
		return err
	}
	for i := range 40 {
		name := fmt.Sprintf("p%d", i)
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
		source := "package " + name + "\n\nimport \"fmt\"\n\nfunc Say() string { return fmt.Sprint(" + fmt.Sprint(i) + ") }\n"
		if err := os.WriteFile(filepath.Join(dir, name, "say.go"), []byte(source), 0o644); err != nil {
			return err
		}
	}
	// Where both sides can write.
	for name, value := range map[string]string{"GOCACHE": filepath.Join(dir, ".gocache"), "GOFLAGS": "-buildvcs=false", "GOTELEMETRY": "off"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return command(dir, "go", "build", "./...")
}

// command runs a preparation.
func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
