// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/runner"
	"github.com/ambit-sandbox/ambit/policy"
)

const insideVariable = "AMBIT_TEST_CGROUP_INSIDE"

// delegated is the control group that this test may use: the one that
// AMBIT_TEST_CGROUP names, or a group below its own. It skips only where the
// kernel refuses to make any.
func delegated(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("AMBIT_TEST_CGROUP"); dir != "" {
		return dir
	}
	own, err := probe.OwnCgroup()
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	dir := filepath.Join(own, "test-"+strconv.Itoa(os.Getpid())+"-"+t.Name())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		below, _ := filepath.Glob(dir + "/*/*")
		more, _ := filepath.Glob(dir + "/*")
		for _, d := range slices.Concat(below, more, []string{dir}) {
			_ = syscall.Rmdir(d) // of a folder only; the rest are the kernel's files
		}
	})
	return dir
}

// inside runs a test once more in a process of its own, which moves into
// another control group. It returns true in that process.
func inside(t *testing.T) (dir string, is bool) {
	t.Helper()
	if dir := os.Getenv(insideVariable); dir != "" {
		return dir, true
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), insideVariable+"="+delegated(t))
	out, err := c.CombinedOutput()
	if t.Log(string(out)); err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) && !bytes.Contains(out, []byte("--- SKIP: "+t.Name())) {
		t.Errorf("%v", err)
	}
	if bytes.Contains(out, []byte("--- SKIP: "+t.Name())) {
		t.Skip("see above")
	}
	return "", false
}

// TestGroupEndsAll: where supervisor and launcher are killed together, nobody
// of the tree's own is left to end it: the group does.
func TestGroupEndsAll(t *testing.T) {
	dir, is := inside(t)
	if !is {
		return
	}
	r := newRunner(t, func(c *runner.Config) { c.Pool, c.Cgroup = -1, dirOrAuto(dir) })
	tr := plant(t, t.Context(), r)
	groups := func() []string { found, _ := filepath.Glob(dir + "/ambit-*/run-*"); return found }
	if len(groups()) != 1 {
		t.Fatalf("groups %q; runs are bounded by %s", groups(), r.Limits())
	}
	held, err := os.ReadFile(groups()[0] + "/cgroup.procs")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range running(t, tr.token) {
		if !slices.Contains(strings.Fields(string(held)), strconv.Itoa(p.pid)) {
			t.Errorf("%+v is not in the group", p)
		}
	}
	for _, pid := range []int{tr.supervisor, tr.launcher} {
		if bytes.Contains(held, []byte(strconv.Itoa(pid)+"\n")) {
			t.Errorf("%d is in the group, whose limits are the command's", pid)
		}
		stop(t, pid)
	}
	if err := syscall.Kill(tr.launcher, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The supervisor may be dead by now: its process group, which the command
	// is in, is orphaned when the launcher ends, and the kernel hangs up those
	// that are stopped in such a one (setpgid(2), "kill_orphaned_pgrp").
	if err := syscall.Kill(tr.supervisor, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Fatal(err)
	}
	tr.wait(t)
	if o := tr.res.Receipt.Outcome; o == nil || !o.Lost || o.Left {
		t.Errorf("%+v", o)
	}
	if len(groups()) != 0 {
		t.Errorf("left: %q", groups())
	}
	for range 3 {
		if res, _, _, err := output(t, r, shell(t, "exit 3")); err != nil || res.ExitCode != 3 {
			t.Errorf("%+v %v", res, err)
		}
	}
	if len(groups()) != 0 {
		t.Errorf("left: %q", groups())
	}
}

// dirOrAuto is a group that can be demanded, or one that may lack controllers.
func dirOrAuto(dir string) string {
	if hasControllers(dir) {
		return dir
	}
	return runner.Auto + ":" + dir
}

func hasControllers(dir string) bool {
	b, _ := os.ReadFile(dir + "/cgroup.controllers")
	words := strings.Fields(string(b))
	return slices.Contains(words, "memory") && slices.Contains(words, "pids")
}

// TestGroupLimits: memory and processes are bounded for all of the command's
// processes together, and what the kernel kills for it is reported.
func TestGroupLimits(t *testing.T) {
	dir, is := inside(t)
	if !is {
		return
	}
	if !hasControllers(dir) {
		b, _ := os.ReadFile(dir + "/cgroup.controllers")
		t.Skipf("the kernel offers %q in %s, which lacks memory or pids", b, dir)
	}
	r := newRunner(t, func(c *runner.Config) { c.Pool, c.Cgroup = -1, dir })
	if r.Limits() != "control groups" {
		t.Errorf("bounded by %q", r.Limits())
	}
	memory, processes := int64(64<<20), int64(20)
	limited := func(script string) *runner.Request {
		q := shell(t, script)
		q.Layers = layer(func(p *policy.Policy) { p.Limits = &policy.Limits{MemoryBytes: &memory, Processes: &processes} })
		return q
	}
	// tail keeps what has no end of line.
	res, out, errs, err := output(t, r, limited(`head -c 200000000 /dev/zero | tail -c 150000000 | wc -c; echo on`))
	if err != nil || res.ExitCode != 0 || out != "0\non\n" || res.Receipt.Outcome.MemoryKills != 1 {
		t.Errorf("%+v %+v %v %q %q", res, res.Receipt.Outcome, err, out, errs)
	}
	res, out, errs, err = output(t, r, limited(`head -c 20000000 /dev/zero | tail -c 15000000 | wc -c`))
	if err != nil || out != "15000000\n" || res.Receipt.Outcome.MemoryKills != 0 {
		t.Errorf("within the limit: %+v %v %q %q", res.Receipt.Outcome, err, out, errs)
	}
	res, out, _, err = output(t, r, limited(`i=0; while [ $i -lt 40 ]; do sleep 30 & i=$((i+1)); done 2>/dev/null; echo made`))
	if err != nil || strings.Contains(out, "made") && res.ExitCode == 0 {
		t.Errorf("40 processes: %+v %v %q", res, err, out)
	}
	res, out, _, err = output(t, r, limited(`i=0; while [ $i -lt 15 ]; do sleep 30 & i=$((i+1)); done; echo made`))
	if err != nil || out != "made\n" || res.ExitCode != 0 {
		t.Errorf("15 processes: %+v %v %q", res, err, out)
	}
	for item, by := range map[string]string{"limits.memory": "memory.max of the control group", "limits.processes": "pids.max of the control group"} {
		if !slices.ContainsFunc(res.Receipt.Coverage, func(l ambit.CoverageLine) bool { return l.Item == item && l.Mechanism == by }) {
			t.Errorf("no line for %s by %s in %+v", item, by, res.Receipt.Coverage)
		}
	}
}

// TestGroupCPU: processor time is bounded for all processes together, however
// they share it.
func TestGroupCPU(t *testing.T) {
	dir, is := inside(t)
	if !is {
		return
	}
	r := newRunner(t, func(c *runner.Config) { c.Pool, c.Cgroup = -1, dirOrAuto(dir) })
	second := int64(1)
	limited := func(script string) *runner.Request {
		q := shell(t, script)
		q.Layers = layer(func(p *policy.Policy) { p.Limits = &policy.Limits{CPUSeconds: &second} })
		return q
	}
	// Each process uses less than the limit; their number has none.
	res, out, errs, err := output(t, r, limited(`while :; do sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done'; done; echo over`))
	if o := res.Receipt.Outcome; err != nil || o == nil || !o.CPUExceeded || o.Lost || res.ExitCode != 152 || out != "" {
		t.Errorf("%+v %+v %v %q %q", res, o, err, out, errs)
	}
	res, out, errs, err = output(t, r, limited(`sleep 1.5; echo over`))
	if o := res.Receipt.Outcome; err != nil || o == nil || o.CPUExceeded || res.ExitCode != 0 || out != "over\n" {
		t.Errorf("one that sleeps: %+v %+v %v %q %q", res, o, err, out, errs)
	}
	if !slices.ContainsFunc(res.Receipt.Coverage, func(l ambit.CoverageLine) bool {
		return l.Item == "limits.cpu" && l.Verdict == "enforced" && strings.HasPrefix(l.Mechanism, "cpu.stat")
	}) {
		t.Errorf("%+v", res.Receipt.Coverage)
	}
}
