// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Group is a command's group.
type Group struct {
	dir string
	// events is memory.events and usage cpu.stat, opened before this process
	// may have given up opening files.
	events, usage *os.File
	procs         *os.File
	has           Controllers
}

// Open opens a group that was made for one command.
func Open(dir string) (*Group, error) {
	g := &Group{dir: dir}
	var err error
	// Whether a process may be moved is decided by who opened the file, and by
	// the right to write to it (cgroup_procs_write_permission and
	// of->file->f_cred, kernel/cgroup/cgroup.c).
	if g.procs, err = os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0); err != nil {
		return nil, fmt.Errorf("cannot use the control group: %w", err)
	}
	if held, err := os.ReadFile(filepath.Join(dir, "cgroup.procs")); err != nil || len(held) > 0 {
		g.Close()
		return nil, fmt.Errorf("cannot use the control group %s: it is not empty: %w", dir, errors.Join(err, syscall.EBUSY))
	}
	g.has.Memory, g.has.Processes = g.hasFile("memory.max"), g.hasFile("pids.max")
	if g.has.Memory {
		if g.events, err = os.Open(filepath.Join(dir, "memory.events")); err != nil {
			g.Close()
			return nil, fmt.Errorf("cannot use the control group: %w", err)
		}
	}
	// Every group counts processor time, with the controller or without
	// (cgroup_base_files, kernel/cgroup/cgroup.c).
	if g.usage, err = os.Open(filepath.Join(dir, "cpu.stat")); err == nil {
		_, g.has.CPU = g.CPU()
	}
	return g, nil
}

func (g *Group) hasFile(name string) bool {
	_, err := os.Stat(filepath.Join(g.dir, name))
	return err == nil
}

// Controllers says what the group can bound.
func (g *Group) Controllers() Controllers {
	if g == nil {
		return Controllers{}
	}
	return g.has
}

// Limit sets bounds; nil is none. Memory is in bytes, and what is swapped out
// counts too, as far as the kernel counts it.
func (g *Group) Limit(memory, processes *int64) error {
	if g == nil {
		return nil
	}
	if memory != nil && g.has.Memory {
		if err := g.write("memory.max", strconv.FormatInt(*memory, 10)); err != nil {
			return err
		}
		// Without swap the limit is one on all that the command has. The
		// file is not there where the kernel does not count swap.
		if err := g.write("memory.swap.max", "0"); err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	if processes != nil && g.has.Processes {
		return g.write("pids.max", strconv.FormatInt(*processes, 10))
	}
	return nil
}

func (g *Group) write(name, text string) error {
	return writeFile(filepath.Join(g.dir, name), text)
}

func writeFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0) // never made: a group's files are the kernel's
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot set up the control group: %w", err)
	}
	return nil
}

// Procs is the open file by which a process enters the group; nil for none.
func (g *Group) Procs() *os.File {
	if g == nil {
		return nil
	}
	return g.procs
}

// Killed returns how many processes were killed because the memory limit was
// reached (oom_kill of memory.events).
func (g *Group) Killed() int {
	if g == nil {
		return 0
	}
	n, _ := valueOf(g.events, "oom_kill ")
	return int(n)
}

// CPU returns the processor time that all processes of the group, also those
// that have ended, have used together (usage_usec of cpu.stat).
func (g *Group) CPU() (used time.Duration, ok bool) {
	n, ok := valueOf(g.usage, "usage_usec ")
	return time.Duration(n) * time.Microsecond, ok
}

// valueOf returns what a file of keys and numbers says of a key.
func valueOf(f *os.File, key string) (n int64, ok bool) {
	if f == nil {
		return 0, false
	}
	b := make([]byte, 4096)
	size, _ := f.ReadAt(b, 0)
	for line := range bytes.Lines(b[:max(size, 0)]) {
		if rest, found := bytes.CutPrefix(line, []byte(key)); found {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(rest)), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Close lets go of the group, which stays.
func (g *Group) Close() {
	if g == nil {
		return
	}
	for _, f := range []*os.File{g.procs, g.events, g.usage} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// removeTime bounds the wait for what was killed.
const removeTime = 10 * time.Second

// remove ends all that is in a group, and removes it.
func remove(dir string) error {
	for end, pause := time.Now().Add(removeTime), time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := syscall.Rmdir(dir)
		if err == nil || errors.Is(err, syscall.ENOENT) {
			return nil
		}
		// EBUSY: there are processes, or groups below.
		if time.Now().After(end) {
			return &os.PathError{Op: "rmdir", Path: dir, Err: err}
		}
		if err := kill(dir); err != nil {
			return err
		}
		time.Sleep(pause)
	}
}

// kill ends what is in a group. cgroup.kill is there since Linux 5.14; before
// that the processes are listed, which one that forks faster outlives, so that
// the caller must do it until the group is empty.
func kill(dir string) error {
	err := writeFile(filepath.Join(dir, "cgroup.kill"), "1")
	if !errors.Is(err, syscall.ENOENT) {
		return err
	}
	held, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(string(held)) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return nil
}
