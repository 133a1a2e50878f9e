// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/runner"
)

// severed runs a command, and kills its supervisor and launcher together when
// the ready function says that it runs. It returns when the run has ended.
func severed(t *testing.T, r *runner.Runner, q *runner.Request, given <-chan int, ready func() bool) (*runner.Result, error) {
	t.Helper()
	tr := &tree{over: make(chan struct{})}
	go func() {
		defer close(tr.over)
		tr.res, tr.err = r.Run(t.Context(), q)
	}()
	supervisor := <-given
	launcher := one(t, supervisor)
	until(t, "the command runs", ready)
	killBoth(t, supervisor, launcher)
	select {
	case <-tr.over:
	case <-time.After(patience):
		t.Fatal("the run does not end")
	}
	return tr.res, tr.err
}

// killBoth kills a run's supervisor and launcher so that neither can do
// anything about the end of the other.
func killBoth(t *testing.T, supervisor, launcher int) {
	t.Helper()
	stop(t, supervisor)
	stop(t, launcher)
	if err := syscall.Kill(launcher, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The kernel may have hung up the stopped supervisor by now, as in
	// TestGroupEndsAll.
	if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Fatal(err)
	}
}

// reporting is a runner without control groups, and where it reports the
// supervisors that were given a request.
func reporting(t *testing.T) (*runner.Runner, <-chan int) {
	t.Helper()
	given := make(chan int, 8)
	r := newRunner(t, func(c *runner.Config) {
		c.Pool, c.Cgroup = -1, runner.Off
		c.SetGiven(func(pid int) { given <- pid })
	})
	return r, given
}

func newToken() string { return fmt.Sprintf("600.%d%d", os.Getpid(), time.Now().UnixNano()) }

// demandLost demands the answer of a run that was ended from outside, and of
// which nothing is left.
func demandLost(t *testing.T, res *runner.Result, err error) {
	t.Helper()
	if o := res.Receipt.Outcome; !errors.Is(err, runner.ErrLost) || o == nil || !o.Lost || o.Left || res.ExitCode != 137 ||
		!strings.Contains(res.Error, "nothing of the command is left") {
		t.Errorf("%+v %+v %v", res, o, err)
	}
}

// TestBothKilled: what a run leaves whose supervisor and launcher were killed
// together is ended before the answer. A run that goes on, a child that the
// runner did not start, and an orphan from elsewhere are left alone.
func TestBothKilled(t *testing.T) {
	r, given := reporting(t)
	child, orphan := stranger(t)

	beside := shell(t, `sleep 600 & echo on; read go; kill -0 $! && echo there; kill $!`)
	in, typing := io.Pipe()
	reads, writes := io.Pipe()
	beside.Stdin, beside.Stdout = in, writes
	over := make(chan struct{})
	var res *runner.Result
	var err error
	go func() { defer close(over); res, err = r.Run(t.Context(), beside); _ = writes.Close() }()
	<-given
	lines := bufio.NewReader(reads)
	if line, err := lines.ReadString('\n'); line != "on\n" {
		t.Fatalf("%q %v", line, err)
	}

	token := newToken()
	q := shell(t, strings.ReplaceAll(`(setsid sh -c 'trap "" TERM HUP INT; (setsid sleep FOR &); sleep FOR & sleep FOR; :' &); sleep FOR & wait`, "FOR", token))
	lost, lostErr := severed(t, r, q, given, func() bool { return len(running(t, token)) >= 6 })
	if left := running(t, token); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
	demandLost(t, lost, lostErr)

	for _, pid := range []int{child, orphan} {
		if err := syscall.Kill(pid, 0); err != nil || len(children(t, os.Getpid())) == 0 {
			t.Errorf("process %d, which no run has started: %v", pid, err)
		}
	}
	if _, err := typing.Write([]byte("go\n")); err != nil {
		t.Error(err)
	}
	line, _ := lines.ReadString('\n')
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	select {
	case <-over:
	case <-time.After(patience):
		t.Fatal("the other run does not end")
	}
	if err != nil || res.ExitCode != 0 || line != "there\n" {
		t.Errorf("the other run: %+v %v %q", res, err, line)
	}
	for _, p := range children(t, os.Getpid()) {
		if p.pid != child && p.pid != orphan {
			t.Errorf("not waited for: %+v", p)
		}
	}
}

// stranger starts a child of this process that no run has started, and has one
// of its own fall to this process.
func stranger(t *testing.T) (child, orphan int) {
	t.Helper()
	c := exec.Command("sh", "-c", `sh -c 'sleep 600 >/dev/null & echo $!'; exec sleep 600`)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if orphan, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(orphan, syscall.SIGKILL)
		_, _ = syscall.Wait4(orphan, nil, 0, nil)
	})
	until(t, "it falls to this process", func() bool {
		return len(processes(t, func(p process) bool { return p.pid == orphan && p.parent == os.Getpid() })) == 1
	})
	return c.Process.Pid, orphan
}

// TestBothKilledForking: processes that fork and end all the time are ended too.
func TestBothKilledForking(t *testing.T) {
	for name, script := range map[string]string{
		"chain": `n=0; f() { n=$((n+1)); [ $n != 50 ] || : > going; f & }; f`,
		"many":  `f() { while :; do (:) & done; }; f & f & f & : > going; wait`,
	} {
		r, given := reporting(t)
		token := newToken()
		q := shell(t, script+"; sleep 600; : "+token)
		res, err := severed(t, r, q, given, func() bool { _, err := os.Stat(q.Dir + "/going"); return err == nil })
		for range 3 {
			if left := running(t, token); len(left) > 0 {
				t.Errorf("%s: left: %+v", name, left)
			}
		}
		demandLost(t, res, err)
		_ = r.Close()
	}
}

// TestWaitingLauncherIsReaped: the launcher of a supervisor that was killed while
// it waited is waited for.
func TestWaitingLauncherIsReaped(t *testing.T) {
	r := newRunner(t, func(c *runner.Config) { c.Pool = 1 })
	if err := syscall.Kill(one(t, os.Getpid()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if res, _, _, err := output(t, r, shell(t, "exit 4")); err != nil || res.ExitCode != 4 {
		t.Errorf("%+v %v", res, err)
	}
	_ = r.Close()
	if left := children(t, os.Getpid()); len(left) > 0 {
		t.Errorf("not waited for: %+v", left)
	}
}
