// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// fdControl is the control connection. It is all that the launcher inherits
// beside the supervisor's own standard streams.
const fdControl = 3

// Arg is the argument that makes this binary the launcher.
const Arg = "__launch"

// Dispatch runs the launcher if args (os.Args) ask for it, and then does not
// return. Programs that run commands call it first thing in main.
func Dispatch(args []string) {
	if len(args) == 2 && args[1] == Arg {
		os.Exit(Main())
	}
}

// Main is the launcher. Its own exit status means nothing: what happened goes
// over the control connection.
func Main() int {
	// The command is a child of this thread, for its parent-death signal and
	// for the Landlock domain it inherits; so the thread must stay.
	runtime.LockOSThread()
	l := &launcher{gone: make(chan struct{})}
	err := l.prepare()
	if err == nil {
		err = l.awaitLaunch()
	}
	if errors.Is(err, errCalledOff) {
		return 0
	}
	if err == nil {
		err = l.run()
	}
	var s *StepError
	if errors.As(err, &s) {
		l.send(message{kind: msgStep, number: errnoOf(err), text: s.Step + "\x00" + s.Object})
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "ambit: cannot run the launcher, which ambit itself starts:", err)
		return 125
	}
	l.removeTmp()
	return 0
}

// errCalledOff: the supervisor closed the connection before it had anything to
// launch.
var errCalledOff = errors.New("the launch was called off")

// awaitLaunch receives what is to be launched.
func (l *launcher) awaitLaunch() error {
	buf := make([]byte, maxMessage)
	n, fds, err := sys.Receive(fdControl, buf)
	switch {
	case err != nil:
		return err
	case n == 0:
		return errCalledOff
	}
	m, err := decodeMessage(buf[:n])
	if err != nil {
		return err
	}
	if l.files, err = filesOf(m, fds); err != nil {
		return err
	}
	if l.spec, err = readSpec(l.files.Spec); err != nil {
		return err
	}
	for to, from := range []int{l.files.Stdin, l.files.Stdout, l.files.Stderr} {
		if err := sys.MoveOver(from, to); err != nil {
			return &StepError{"connect the standard streams", "", err}
		}
	}
	return nil
}

func readSpec(fd int) (*Spec, error) {
	sealed, err := sys.IsSealed(fd)
	if err != nil {
		return nil, err
	}
	if !sealed {
		return nil, errors.New("the spec can still be changed")
	}
	b, err := sys.ReadWhole(fd)
	_ = syscall.Close(fd)
	if err != nil {
		return nil, err
	}
	return Decode(b)
}

func errnoOf(err error) uint32 {
	var e syscall.Errno
	if errors.As(err, &e) {
		return uint32(e)
	}
	return uint32(syscall.EINVAL)
}

// launcher is the state of one run.
type launcher struct {
	spec   *Spec
	files  Files
	parent int
	group  int // the process group that the command is to be in
	// scoped says that this thread's signals reach the command's tree only.
	scoped bool
	gone   chan struct{} // closed when the supervisor is

	mu    sync.Mutex
	pid   int  // the command's
	ended bool // it was reaped: its pid may be another process's
}

func (l *launcher) send(m message) { _ = sys.Send(fdControl, m.encode()) }

// prepare is what can be done before it is known what to launch.
func (l *launcher) prepare() error {
	l.parent = os.Getppid()
	if err := l.holdSignals(); err != nil {
		return err
	}
	if err := l.leaveGroup(); err != nil {
		return err
	}
	if err := sys.BecomeSubreaper(); err != nil {
		return &StepError{"become the subreaper", "", err}
	}
	sys.ParkThreads(spareThreads)
	// No memory goes into a dump, wherever one may still be taken: the setting
	// is inherited by fork and exec (core(5), "Controlling which mappings are
	// written"). It is a second line behind the limit, so failing is no error.
	_ = os.WriteFile("/proc/self/coredump_filter", []byte("0"), 0)
	return nil
}

// spareThreads are those for waiting, for listening and for the timers, while
// the command may have used up all that the system has.
const spareThreads = 4

func (l *launcher) run() error {
	if err := l.enterGuardDomain(); err != nil {
		return err
	}
	prog, err := buildProgram(l.spec, l.files, l.group)
	if err != nil {
		return &StepError{"prepare the command", "", err}
	}
	go l.listen()
	executed := make(chan struct{})
	called := make(chan struct{})
	go func() {
		defer close(called)
		l.callOff(executed)
	}()
	started, err := l.fork(prog)
	close(executed)
	<-called // who is not waited for yet has no other's number
	if err != nil {
		return err
	}
	if started {
		l.send(message{kind: msgStarted, number: uint32(l.pid)})
	}
	l.reap(started)
	return nil
}

// callOff ends a command that hangs before it is executed (a file system that
// does not answer) when the supervisor is gone: this process's first thread
// waits for it. It is by number, since only that thread's signals are scoped.
func (l *launcher) callOff(executed <-chan struct{}) {
	select {
	case <-executed:
		return
	case <-l.gone:
	}
	// Once is enough, and more would be too much: while that thread waits, no
	// memory that was used up can be collected.
	for killed := false; !killed; {
		for _, pid := range Children(os.Getpid()) {
			killed = sys.Kill(pid, syscall.SIGKILL) == nil
		}
		select {
		case <-executed:
			return
		case <-time.After(callOffPause):
		}
	}
	select {
	case <-executed:
	case <-time.After(sweepTime):
		l.giveUp()
	}
}

// giveUp ends this process although its first thread still waits for a command
// that the kernel holds, and that holds the connection open.
func (l *launcher) giveUp() {
	l.send(leftBehind)
	_ = syscall.Shutdown(fdControl, syscall.SHUT_RDWR)
	os.Exit(0)
}

// callOffPause is how long a command that is not there yet is waited for.
const callOffPause = 20 * time.Millisecond

// leaveGroup takes the launcher out of the process group that it shares with
// the supervisor: a SIGKILL for that group (a shell's "kill -9 %1", killpg(2))
// must leave one alive that ends the tree. The command goes back into it, for
// the terminal's sake.
func (l *launcher) leaveGroup() error {
	l.group = syscall.Getpgrp()
	if err := syscall.Setpgid(0, 0); err != nil {
		return &StepError{"setpgid", "launcher", err}
	}
	return nil
}

// holdSignals keeps the launcher alive through what a terminal or the caller
// sends to the whole process group; the command gets the same signals itself,
// with their default actions.
func (l *launcher) holdSignals() error {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE} {
		if err := sys.IgnoreSignal(s); err != nil {
			return &StepError{"hold signals", s.String(), err}
		}
	}
	return nil
}

// fork starts the command and reports whether its execve succeeded.
func (l *launcher) fork(prog *program) (bool, error) {
	pid, failed, err := sys.ForkSteps(prog.steps)
	if err != nil {
		return false, &StepError{"fork", "", err}
	}
	l.mu.Lock()
	l.pid = pid
	l.mu.Unlock()
	if failed.Errno != 0 {
		l.send(prog.failure(failed))
		return false, nil
	}
	return true, nil
}

// listen serves the supervisor until its end of the connection is gone.
func (l *launcher) listen() {
	defer close(l.gone)
	buf := make([]byte, maxMessage)
	for {
		n, _, err := sys.Receive(fdControl, buf)
		if n == 0 || err != nil {
			return
		}
		if m, err := decodeMessage(buf[:n]); err == nil && m.kind == msgSignal {
			l.signal(syscall.Signal(m.number))
		}
	}
}

func (l *launcher) signal(s syscall.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pid != 0 && !l.ended {
		_ = sys.Kill(l.pid, s)
	}
}

// removeTmp leaves it to the supervisor to say that it failed; the supervisor
// tries again.
func (l *launcher) removeTmp() {
	if l.spec != nil && l.files.Tmp >= 0 {
		_ = RemoveTmp(os.NewFile(uintptr(l.files.Tmp), l.spec.Tmp), l.spec.Tmp)
	}
}
