// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/probe"
)

// Parent is the service's own group, below which each run gets one.
type Parent struct {
	dir string
	// from is where this process was before.
	from string
	lock *os.File
	has  Controllers
	// lacks is why a controller is missing.
	lacks error
	made  atomic.Int64
}

const (
	prefix      = "ambit-"
	serviceName = "service"
	runPrefix   = "run-"
)

// New makes the service's own group in a delegated one, moves this process
// there, and removes what a killed service left, with all that is in it. The
// delegated group is the one that this process is in, if the service manager
// says that it was delegated or the process is alone there, or the one that is
// given.
func New(delegated string) (*Parent, error) {
	own, err := probe.OwnCgroup()
	if err != nil {
		return nil, fmt.Errorf("cannot use control groups: %w", err)
	}
	if delegated == "" {
		delegated = delegatedOf(own)
	}
	if err := sweep(delegated); err != nil {
		return nil, fmt.Errorf("cannot use control groups: %w", err)
	}
	p := &Parent{from: own, dir: filepath.Join(delegated, prefix+strconv.Itoa(os.Getpid()))}
	if err := p.set(delegated); err != nil {
		p.Close()
		return nil, fmt.Errorf("cannot use control groups: %w", err)
	}
	return p, nil
}

// delegatedOf is a group's parent if that was delegated and the group is only
// the place of its processes (DelegateSubgroup=, systemd.resource-control(5)),
// or else the group itself.
func delegatedOf(own string) string {
	up := filepath.Dir(own)
	if isDelegated(up) && !isDelegated(own) {
		return up
	}
	return own
}

// isDelegated reads the mark that systemd leaves on what it delegates (since
// version 251; "user.delegate", cg_set_xattr in src/core/cgroup.c).
func isDelegated(dir string) bool {
	b := make([]byte, 8)
	n, err := syscall.Getxattr(dir, "user.delegate", b)
	return err == nil && string(b[:n]) == "1"
}

func (p *Parent) set(delegated string) error {
	err := os.Mkdir(p.dir, 0o755)
	if err != nil {
		return err
	}
	if p.lock, err = hold(p.dir); err != nil {
		return err
	}
	service := filepath.Join(p.dir, serviceName)
	if err := os.Mkdir(service, 0o755); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(service, "cgroup.procs"), "0"); err != nil {
		return err
	}
	p.has.Memory, p.has.Processes = p.enable(delegated, "memory"), p.enable(delegated, "pids")
	return nil
}

// enable hands a controller down, from a group without processes of its own
// only (EBUSY, cgroup_vet_subtree_control_enable in kernel/cgroup/cgroup.c).
func (p *Parent) enable(delegated, controller string) bool {
	for _, d := range []string{delegated, p.dir} {
		if err := writeFile(filepath.Join(d, "cgroup.subtree_control"), "+"+controller); err != nil {
			p.lacks = errors.Join(p.lacks, fmt.Errorf("no controller %s: %w", controller, err))
			return false
		}
	}
	return true
}

// hold locks a group's folder as long as this process lives.
func hold(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "flock", Path: dir, Err: err}
	}
	return f, nil
}

// sweep removes the groups of services that are no more.
func sweep(delegated string) error {
	entries, err := os.ReadDir(delegated)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		dir := filepath.Join(delegated, e.Name())
		lock, err := hold(dir)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.ENOENT) {
			continue // it lives, or somebody else removes it
		}
		if err != nil {
			return err
		}
		err = removeAll(dir)
		_ = lock.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a service's group: the runs first.
func removeAll(dir string) error {
	below, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range below {
		if e.IsDir() {
			err = errors.Join(err, remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(err, remove(dir))
}

// Controllers says what the runs' groups can bound.
func (p *Parent) Controllers() Controllers { return p.has }

// Lacks says why a controller is missing; nil if none is.
func (p *Parent) Lacks() error { return p.lacks }

// Make makes a run's group and returns its folder.
func (p *Parent) Make() (string, error) {
	dir := filepath.Join(p.dir, runPrefix+strconv.FormatInt(p.made.Add(1), 10))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot make a control group: %w", err)
	}
	return dir, nil
}

// Remove ends all that is left in a run's group, and removes it.
func (p *Parent) Remove(dir string) error { return remove(dir) }

// Close ends the runs, moves this process back and removes the service's group.
// What can't be removed, the next service removes.
func (p *Parent) Close() {
	if p == nil {
		return
	}
	runs, _ := filepath.Glob(filepath.Join(p.dir, runPrefix+"*"))
	for _, dir := range runs {
		_ = remove(dir)
	}
	// A group that hands controllers down takes no process.
	up := filepath.Dir(p.dir)
	if up == p.from {
		for _, controller := range []string{"memory", "pids"} {
			_ = writeFile(filepath.Join(p.dir, "cgroup.subtree_control"), "-"+controller)
			_ = writeFile(filepath.Join(up, "cgroup.subtree_control"), "-"+controller)
		}
	}
	if writeFile(filepath.Join(p.from, "cgroup.procs"), "0") == nil {
		_ = syscall.Rmdir(filepath.Join(p.dir, serviceName))
		_ = syscall.Rmdir(p.dir)
	}
	if p.lock != nil {
		_ = p.lock.Close()
	}
}
