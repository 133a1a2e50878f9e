// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/secctx"
)

// pidsGroup makes a control group that limits processes: below the hierarchy of
// its own of version 1, or below the one of version 2.
func pidsGroup(t *testing.T) string {
	t.Helper()
	var tried []string
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		dir, err := os.MkdirTemp(root, "ambit-test-")
		if err == nil {
			err = os.WriteFile(dir+"/pids.max", []byte("77"), 0o644)
		}
		if err == nil {
			t.Cleanup(func() { removeGroup(t, dir) })
			return dir
		}
		if dir != "" {
			_ = os.Remove(dir)
		}
		tried = append(tried, err.Error())
	}
	t.Skip("no control group can be made here:", strings.Join(tried, "; "))
	return ""
}

// removeGroup waits until the last process is gone for good.
func removeGroup(t *testing.T, dir string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(runTime); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = os.Remove(dir); err == nil {
			return
		}
	}
	t.Error(err)
}

// TestContextOfCgroup: the limit of a group is found, from within and from
// without, and told as a difference.
func TestContextOfCgroup(t *testing.T) {
	needRoot(t)
	group := pidsGroup(t)
	enter := sh("echo $$ >" + group + "/cgroup.procs")
	c := contextOf(t, enter)
	level := slices.IndexFunc(c.Cgroup.Levels, func(l secctx.CgroupLevel) bool { return strings.HasSuffix(group, l.Path) && l.Path != "/" })
	if level < 0 || c.Cgroup.Levels[level].Values["pids.max"] != "77" || c.Cgroup.Levels[level].Values["pids.events"] == "" {
		t.Fatalf("got %+v, %+v", c.Cgroup, c.Unknown)
	}
	got := compared(t, gathered(t, ".", nil), gathered(t, ".", enter))
	if !slices.Contains(got, "cgroup pids.max") {
		t.Errorf("got %q", got)
	}
	if got := compared(t, gathered(t, ".", enter), gathered(t, ".", enter)); len(got) > 0 {
		t.Errorf("between two of the same: %q", got)
	}
}
