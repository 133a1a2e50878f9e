// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

func TestMain(m *testing.M) {
	child.Dispatch(os.Args)
	os.Exit(m.Run())
}

// allowAll is a filter that lets every call pass (BPF_RET|BPF_K,
// SECCOMP_RET_ALLOW), in the byte order of the architectures that ambit runs on.
var allowAll = []byte{0x06, 0, 0, 0, 0, 0, 0xff, 0x7f}

// launching is a command that leaves a mark, and waits for a listener's server
// before it is executed.
type launching struct {
	*testing.T
	req  *Request
	mark string
}

func newLaunching(t *testing.T) *launching {
	t.Helper()
	l := &launching{T: t, mark: filepath.Join(t.TempDir(), "ran")}
	ruleset, err := sys.LandlockCreateRuleset(sys.Ruleset{FS: 1 << 12}) // LANDLOCK_ACCESS_FS_MAKE_SYM
	if err != nil {
		t.Skipf("there is no Landlock here: %v", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	l.must(err)
	dir, err := os.Open(filepath.Dir(l.mark))
	l.must(err)
	l.req = &Request{
		Spec: &child.Spec{
			Files: []string{"/bin/sh"}, Argv: []string{"sh", "-c", ": > " + l.mark},
			Filter: allowAll, FilterFlags: sys.SeccompNewListener,
		},
		WorkDir: dir, Ruleset: os.NewFile(uintptr(ruleset), "ruleset"),
		Stdin: null, Stdout: Direct(null), Stderr: Direct(null),
		Listener: func(fd, _ int) error { return syscall.Close(fd) },
	}
	t.Cleanup(func() { _, _, _ = null.Close(), dir.Close(), l.req.Ruleset.Close() })
	return l
}

func (l *launching) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// run runs it to its end, which must come, and waits for everything of it: what
// lost its launcher falls to this process.
func (l *launching) run() (res *Result, err error) {
	l.Helper()
	l.must(sys.BecomeSubreaper())
	launcher, err := Start(nil)
	l.must(err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = launcher.Run(context.Background(), l.req)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		_ = sys.Kill(launcher.pid, syscall.SIGKILL)
		l.Fatal("the launch did not end")
	}
	for {
		if _, _, none := sys.Wait(); none != nil {
			return res, err
		}
	}
}

func (l *launching) ran() bool {
	_, err := os.Stat(l.mark)
	return err == nil
}

// nothingRan is what a launch must come to that failed.
func (l *launching) nothingRan(res *Result, err error) {
	l.Helper()
	if err == nil || res != nil && res.Started || l.ran() {
		l.Errorf("%+v, %v; the command ran: %v; want an error, and that it did not", res, err, l.ran())
	}
}

// TestLaunch is the control to what follows.
func TestLaunch(t *testing.T) {
	l := newLaunching(t)
	if res, err := l.run(); err != nil || !res.Started || res.Status != 0 || !l.ran() {
		t.Errorf("%+v, %v; the command ran: %v", res, err, l.ran())
	}
}

// TestLauncherKilledInSetUp: a launcher that is killed while the command waits
// for the broker leaves nobody who could end the command, so that is not
// executed.
func TestLauncherKilledInSetUp(t *testing.T) {
	l := newLaunching(t)
	l.req.Listener = func(fd, launcher int) error {
		_ = syscall.Close(fd)
		if err := sys.Kill(launcher, syscall.SIGKILL); err != nil {
			return err
		}
		for !ended(launcher) {
			time.Sleep(time.Millisecond)
		}
		return nil
	}
	l.nothingRan(l.run())
}

// ended reports whether nothing is left of a process but what its parent has
// not waited for: while a thread is there its children have not lost it.
func ended(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	return strings.Contains(string(b), "\nState:\tZ") && len(threads) == 1
}

// TestSurrenderFails: a supervisor that can't be confined ends the launch, which
// waits for it.
func TestSurrenderFails(t *testing.T) {
	l := newLaunching(t)
	failure := errors.New("it cannot be confined")
	l.req.Surrender = func() error { return failure }
	res, err := l.run()
	l.nothingRan(res, err)
	if !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
}
