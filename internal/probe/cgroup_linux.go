// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

var cgroupRefusals = refusals{
	{syscall.EACCES, "our control group belongs to another user"},
	{syscall.EPERM, "our control group may not be changed"},
	{syscall.EROFS, "the control groups are mounted read-only"},
	{syscall.ENOENT, "our control group is not mounted here"},
}

var errNoCgroup2 = errors.New("no control group of version 2 is mounted")

// tryCgroup makes and removes a group below the one that this process is in.
// Permission bits alone would not tell: security modules may refuse as well.
func (h host) tryCgroup() Result {
	r := Result{Feature: featureIn(attemptFeatures, FeatCgroup)}
	dir, err := h.ownCgroup()
	switch {
	case errors.Is(err, errNoCgroup2):
		r.Verdict, r.Detail, r.Err = No, err.Error(), err
		return r
	case err != nil:
		r.Detail, r.Err = "cannot find out which control group this process is in", err
		return r
	}
	r.Err = h.makeGroup(filepath.Join(dir, "ambit-probe-"+strconv.Itoa(os.Getpid())))
	r.Verdict, r.Detail = cgroupRefusals.judge(r.Err)
	if r.Verdict == Yes {
		controllers, _ := h.readFile(filepath.Join(dir, "cgroup.controllers"))
		r.Detail = "controllers: " + strings.Join(strings.Fields(controllers), ",")
	}
	return r
}

func makeAndRemove(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Remove(dir)
}

// OwnCgroup returns the folder of this process's control group of version 2.
func OwnCgroup() (string, error) { return thisHost().ownCgroup() }

// ownCgroup returns the folder of this process's group. The line of version 2
// in /proc/self/cgroup begins with "0::" (cgroups(7)); its path counts from
// the root of the hierarchy, of which the mount may show a part only.
func (h host) ownCgroup() (string, error) {
	own, err := h.readFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := h.readWhole("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	return cgroupDir(own, mounts)
}

func cgroupDir(own, mountinfo string) (string, error) {
	for line := range strings.Lines(own) {
		path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::")
		// "/.." leads out of the process's cgroup namespace (cgroup_namespaces(7)).
		if !ok || strings.HasPrefix(path, "/..") {
			continue
		}
		for m := range mountsOf(mountinfo) {
			if m.fstype != "cgroup2" {
				continue
			}
			if rel, err := filepath.Rel(m.root, path); err == nil && filepath.IsLocal(rel) {
				return filepath.Join(m.point, rel), nil
			}
		}
	}
	return "", errNoCgroup2
}
