// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// TestNaiveLosesExecRace runs the storm of TestExecRace against a supervisor
// that decides in the same way what may be executed, and then lets the kernel
// do it, where no Landlock rule holds: the blocked program runs.
func TestNaiveLosesExecRace(t *testing.T) {
	const round = 2 * time.Second
	stolen := int64(0)
	for began := time.Now(); stolen == 0 && time.Since(began) < 4*patient; {
		stolen = naiveExecRound(t, round)
		if t.Failed() {
			return
		}
	}
	if stolen == 0 {
		t.Error("the storm does not work")
	}
}

// naiveExecRound returns how often the blocked program ran.
func naiveExecRound(t *testing.T, length time.Duration) int64 {
	t.Helper()
	f := makeField(t)
	f.fill(t)
	if err := os.WriteFile(f.r+"/victim", []byte(script(stolenExit)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.r+"/victim", 0o755); err != nil {
		t.Fatal(err)
	}
	ruleset := keepVictim(t, f)
	defer func() { _ = ruleset.Close() }()
	tree := f.tree(t, policy.Blocked)
	s, listener := startConfined(t, ruleset, classOf(tree), "runners", f.w, f.r, length.String())
	b, err := New(listener, Options{Tree: tree, Files: &Files{Truncate: true}})
	if err != nil {
		t.Fatal(err)
	}
	n := &naiveExec{b: b}
	done := make(chan error, 1)
	go func() { done <- serveNaively(b, n.decide) }()
	tries := stormResult(t, s, length)
	t.Logf("%v, refused %d times", tries, n.refusals.Load())
	n.group.Wait()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n.refusals.Load() == 0 {
		t.Error("it refuses nothing, so it decides nothing")
	}
	return tries["stolen runs"].Worked
}

// keepVictim makes a ruleset that says nothing about reading and executing, and
// keeps the storm from writing another program over the blocked one, which
// nobody else does here.
func keepVictim(t *testing.T, f field) *os.File {
	t.Helper()
	rights := uint64(probe.FSMakeReg | probe.FSRemoveFile | probe.FSWriteFile)
	fd, err := sys.LandlockCreateRuleset(sys.Ruleset{FS: rights})
	if err != nil {
		t.Fatal(err)
	}
	ruleset := os.NewFile(uintptr(fd), "ruleset")
	for _, name := range []string{f.w, "/dev"} {
		dir, err := sys.OpenPath(name)
		if err != nil {
			t.Fatal(err)
		}
		err = sys.LandlockAllow(fd, rights, dir)
		_ = syscall.Close(dir)
		if err != nil {
			t.Fatal(err)
		}
	}
	return ruleset
}

// naiveExec decides what may be executed.
type naiveExec struct {
	b        *Broker
	group    sync.WaitGroup
	refusals atomic.Int64
}

// decide judges what is opened, too, since the shell reads its script by name,
// lets every other call go on, and keeps none waiting.
func (n *naiveExec) decide(t *task) naiveVerdict {
	switch t.nr {
	case syscall.SYS_OPENAT:
		return naivelyReadable(t)
	case syscall.SYS_EXECVE, nrExecveat:
	default:
		return goesOn
	}
	buf, err := sys.NewNotifyBuffer()
	if err != nil {
		return declined
	}
	later := &task{b: n.b, w: &worker{b: n.b, buf: buf}, id: t.id, tid: t.tid, nr: t.nr, args: t.args}
	n.group.Go(func() {
		v := naivelyReadable(later)
		if v == declined {
			n.refusals.Add(1)
		}
		// Any machine pauses here now and then; no test can wait for that.
		time.Sleep(2 * time.Millisecond)
		_ = answerNaively(later, v)
	})
	return answeredLater
}

func naivelyReadable(t *task) naiveVerdict {
	dir, arg := t.reg(0), 1
	if t.nr == syscall.SYS_EXECVE {
		dir, arg = sys.AtCWD, 0
	}
	on, errno := t.path(dir, arg, 0)
	if errno != 0 {
		return goesOn
	}
	s, errno := t.locate(on)
	if errno != 0 {
		return goesOn // the kernel finds nothing either
	}
	defer s.close()
	if s.object == nil {
		return goesOn
	}
	j, _ := t.judgeObject(s.object, plan.Read)
	return verdictOf(j)
}
