// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// tmpfsMagic is TMPFS_MAGIC (statfs(2)).
const tmpfsMagic = 0x01021994

// nestedWorks fill a new folder in a project that has places with less access.
func nestedWorks() []work {
	const fill = "rm -rf new"
	return []work{
		{name: "tar x of 5,000 files into a new folder", tool: "tar", command: shell("mkdir new && tar xf ../files.tar -C new"), before: shell(fill)},
		{name: "cp -r of 5,000 files", tool: "cp", command: shell("cp -r ../files new"), before: shell(fill)},
		{name: "git clone of 5,000 files", tool: "git", command: shell("git clone -q --no-hardlinks ../repository new"), before: shell(fill)},
		{name: "rm -rf of 5,000 files in a folder that was there", tool: "rm", command: shell("rm -rf new"), before: shell(fill + " && cp -r ../files new")},
		{name: "rm -rf of 5,000 files in a new folder", tool: "rm", command: shell("cp -r ../files new && rm -rf new"), before: shell(fill)},
	}
}

func shell(script string) []string { return []string{"sh", "-c", script} }

// nested compares works inside and outside, with four places closed to the
// command, on the file system of the scratch space and on a tmpfs.
func (b *bench) nested() error {
	for _, base := range []string{b.dir, "/dev/shm"} {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(base, &fs); err != nil || base != b.dir && fs.Type != tmpfsMagic {
			fmt.Fprintf(b.out, "\n%s is no tmpfs: not compared\n", base)
			continue
		}
		dir, err := os.MkdirTemp(base, "ambit-bench-nested-")
		if err == nil {
			err = b.nestedIn(dir)
			_ = os.RemoveAll(dir)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) nestedIn(dir string) error {
	project := filepath.Join(dir, "project")
	for _, name := range []string{"files", "repository", "project/frozen", "project/.git/hooks"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	if err := files(filepath.Join(dir, "files"), 5000); err != nil {
		return err
	}
	if err := command(dir, "tar", "cf", "files.tar", "-C", "files", "."); err != nil {
		return err
	}
	if _, err := exec.LookPath("git"); err == nil {
		if err := gitRepository(b, filepath.Join(dir, "repository")); err != nil {
			return err
		}
	}
	receipt := filepath.Join(b.dir, "receipt.json")
	for _, w := range nestedWorks() {
		if _, err := exec.LookPath(w.tool); err != nil {
			fmt.Fprintf(b.out, "\n%s is not installed: not compared\n", w.tool)
			continue
		}
		within := func(kind string) []string {
			argv := []string{"env", "TMPDIR=" + dir, b.ambit, "run", "--receipt", receipt, "--read", dir, "--write", project}
			for _, place := range []string{"frozen", ".git/hooks", ".env", "config/secret"} {
				argv = append(argv, kind, filepath.Join(project, place))
			}
			return append(append(argv, "--"), w.command...)
		}
		subjects := []subject{
			{name: "outside", argv: w.command, dir: project, before: w.before},
			{name: "inside, four write blocks", argv: within("--block-write"), dir: project, receipt: receipt, before: w.before},
			{name: "inside, four read blocks", argv: within("--block"), dir: project, receipt: receipt, before: w.before},
		}
		times, err := compare(subjects, 7)
		if err != nil {
			return err
		}
		table(b.out, w.name+", "+kindOf(dir), subjects, times, 0)
	}
	return nil
}

func kindOf(dir string) string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err == nil && fs.Type == tmpfsMagic {
		return "tmpfs"
	}
	return "disk"
}
