// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/runner"
)

// tree is a running command with processes that have left its session and its
// parents.
type tree struct {
	token                string
	supervisor, launcher int
	over                 chan struct{}
	res                  *runner.Result
	err                  error
}

func plant(t *testing.T, ctx context.Context, r *runner.Runner) *tree {
	t.Helper()
	tr := &tree{token: fmt.Sprintf("600.%d%d", os.Getpid(), time.Now().UnixNano()), over: make(chan struct{})}
	q := shell(t, strings.ReplaceAll(`(setsid sh -c 'trap "" TERM HUP INT; sleep T & sleep T; :' &); sleep T & wait`, "T", tr.token))
	go func() {
		defer close(tr.over)
		tr.res, tr.err = r.Run(ctx, q)
	}()
	// Two shells, which have the token in their script, and three sleeps.
	until(t, "the whole tree runs", func() bool { return len(running(t, tr.token)) >= 5 })
	tr.supervisor = one(t, os.Getpid())
	tr.launcher = one(t, tr.supervisor)
	return tr
}

// wait waits for the run's end and demands that nothing is left right then.
func (tr *tree) wait(t *testing.T) {
	t.Helper()
	select {
	case <-tr.over:
	case <-time.After(patience):
		t.Fatal("the run does not end")
	}
	if left := running(t, tr.token); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

func TestCancel(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Pool = -1 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := plant(t, ctx, r)
	cancel()
	tr.wait(t)
	if !errors.Is(tr.err, context.Canceled) || tr.res.Code != "" || tr.res.Receipt.Outcome == nil || !tr.res.Receipt.Outcome.Cancelled {
		t.Errorf("%+v %+v %v", tr.res, tr.res.Receipt.Outcome, tr.err)
	}
	res, err := r.Run(ctx, shell(t, "true"))
	if !errors.Is(err, context.Canceled) || res == nil || res.Receipt == nil || res.Receipt.Outcome != nil {
		t.Errorf("cancelled before: %+v %v", res, err)
	}
}

// TestCancelStopped: a supervisor that does not listen is killed.
func TestCancelStopped(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Pool, c.Grace = -1, 200*time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := plant(t, ctx, r)
	stop(t, tr.supervisor)
	cancel()
	tr.wait(t)
	if o := tr.res.Receipt.Outcome; !errors.Is(tr.err, context.Canceled) || o == nil || !o.Lost || !o.Cancelled {
		t.Errorf("%+v %+v %v", tr.res, o, tr.err)
	}
}

func TestSupervisorKilled(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Pool = -1 })
	tr := plant(t, t.Context(), r)
	if err := syscall.Kill(tr.supervisor, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	tr.wait(t)
	o := tr.res.Receipt.Outcome
	if !errors.Is(tr.err, runner.ErrLost) || errors.Is(tr.err, ambit.ErrUnavailable) || tr.res.ExitCode != 137 || tr.res.Code != "" || o == nil || !o.Lost || !o.Executed || o.Left {
		t.Errorf("%+v %+v %v", tr.res, o, tr.err)
	}
	if res, _, _, err := output(t, r, shell(t, "true")); err != nil || res.ExitCode != 0 {
		t.Errorf("the next run: %+v %v", res, err)
	}
}

func TestLauncherKilled(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Pool = -1 })
	tr := plant(t, t.Context(), r)
	if err := syscall.Kill(tr.launcher, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	tr.wait(t)
	if o := tr.res.Receipt.Outcome; !errors.Is(tr.err, runner.ErrLost) || tr.res.ExitCode != 137 || o == nil || !o.Lost || o.Left {
		t.Errorf("%+v %+v %v", tr.res, o, tr.err)
	}
	if want := "the launcher was killed while the command ran; nothing of the command is left"; tr.res.Error != want {
		t.Errorf("%q instead of %q", tr.res.Error, want)
	}
}

// TestWaitingKilled: a supervisor that was killed while it waited is replaced.
func TestWaitingKilled(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Pool = 1 })
	pid := one(t, os.Getpid())
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "it is dead", func() bool {
		return len(processes(t, func(p process) bool { return p.pid == pid && p.state == "Z" })) == 1
	})
	if res, _, _, err := output(t, r, shell(t, "exit 4")); err != nil || res.ExitCode != 4 {
		t.Errorf("%+v %v", res, err)
	}
	if len(processes(t, func(p process) bool { return p.pid == pid && p.state == "Z" })) != 0 {
		t.Error("it is still a zombie")
	}
}

// TestLostBeforeStart: a supervisor that is killed when it has its request, and
// has not begun, is replaced. Where all are, what certainly has not run has the
// code that says so.
func TestLostBeforeStart(t *testing.T) {
	const tries = 3
	for _, deaths := range []int{1, tries} {
		lostBeforeStart(t, deaths, deaths < tries)
	}
}

func lostBeforeStart(t *testing.T, deaths int, runs bool) {
	t.Helper()
	given := 0
	r := newRunner(t, func(c *runner.Config) {
		c.Pool = -1
		c.SetGiving(func(pid int) { // it waits, and has not been given anything
			if given < deaths {
				stop(t, pid)
			}
		})
		c.SetGiven(func(pid int) {
			if given++; given <= deaths {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	})
	q := shell(t, `echo ran >> ran`)
	res, err := r.Run(t.Context(), q)
	if b, _ := os.ReadFile(q.Dir + "/ran"); runs {
		if err != nil || res.ExitCode != 0 || string(b) != "ran\n" {
			t.Errorf("%+v %v, ran %q", res, err, b)
		}
		return
	}
	if !errors.Is(err, ambit.ErrUnavailable) || errors.Is(err, runner.ErrLost) || res.ExitCode != ambit.ExitUnavailable || res.Receipt.Outcome != nil {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := os.Stat(q.Dir + "/ran"); !os.IsNotExist(err) {
		t.Errorf("it ran: %v", err)
	}
}
