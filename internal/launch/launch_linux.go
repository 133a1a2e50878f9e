// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Request is one command to launch.
type Request struct {
	Spec *child.Spec
	// WorkDir is an open folder, Ruleset the command's Landlock ruleset.
	WorkDir, Ruleset *os.File
	// Tmp is the private temporary folder, which the launcher removes; or
	// nil.
	Tmp *os.File
	// Cgroup is the cgroup.procs of the command's control group, or nil.
	Cgroup *os.File
	// Stdin goes to the command as it is.
	Stdin *os.File
	// Stdout and Stderr say where output goes.
	Stdout, Stderr *Output
	// Timeout is the wall-clock limit; 0 is none.
	Timeout time.Duration
	// Exceeded, if not nil, is asked now and then whether the command has used
	// up what it may; then the tree is killed.
	Exceeded func() bool
	// Signals are passed on to the command; may be nil.
	Signals <-chan os.Signal
	// Listener, if the filter has one, is called with the seccomp listener,
	// which it takes over, and the launcher's pid. Only when it has returned
	// without an error does the command start.
	Listener func(fd, launcher int) error
	// Surrender, if not nil, is called before the command starts: this process
	// then gives up what the rest of the run does not take. If it fails,
	// nothing runs.
	Surrender func() error
	// Started, if not nil, is called when the command has been executed.
	Started func()
}

// Result is how a launch ended.
type Result struct {
	// Started: the command's execve succeeded.
	Started bool
	// Status is the command's wait status, if it started.
	Status syscall.WaitStatus
	// ExecFile and ExecErr: execve of this file failed; nothing ran.
	ExecFile string
	ExecErr  error
	TimedOut bool
	// Exceeded: the request's function said so.
	Exceeded bool
	// Left: processes of the tree were still there when the launcher gave
	// up (only the kernel itself can hold one against SIGKILL).
	Left bool
	// Killed: the launcher itself was, so that its orphans fell to the next
	// subreaper above it.
	Killed bool
	// Emptied: the command ran, and the launcher has seen all of its tree end.
	Emptied bool
	// Setup is the time until the command was executed, Run from there to
	// its end, Sweep from there until nothing was left.
	Setup, Run, Sweep time.Duration
}

// errLauncher: the launcher ended before the command was executed.
var errLauncher = errors.New("the launcher ended unexpectedly")

// ErrLost: the launcher was killed while the command ran, so how the command
// would have ended is not known, nor whether anything of it is left.
var ErrLost = errors.New("the launcher was killed while the command ran")

// Run launches the command and waits until nothing of it is left. A step of
// the set-up that failed is a *child.StepError: then nothing has run. When
// ctx ends, the tree is killed and ctx's error returned with the result. The
// launcher is used up.
func (l *Launcher) Run(ctx context.Context, req *Request) (*Result, error) {
	r := &run{req: req, begin: time.Now(), control: l.control, pid: l.pid}
	l.control = nil
	if err := r.begins(l.guard); err != nil {
		r.finish()
		return nil, err
	}
	r.events = make(chan event)
	go r.read(int(r.control.Fd()))
	err := r.follow(ctx)
	r.finish()
	if err == nil {
		err = r.failure
	}
	if err == nil && !r.res.Started && r.res.ExecErr == nil {
		err = &child.StepError{Step: "launcher", Err: errLauncher}
	}
	if err == nil && r.res.Started && !r.ended && !r.res.TimedOut && !r.res.Exceeded {
		err = ErrLost
	}
	return &r.res, err
}

// begins launches, and has this process confined before the command starts:
// where that waits for the broker, beside the launcher's work.
func (r *run) begins(guard *Guard) error {
	surrender := r.req.Surrender
	if surrender == nil {
		surrender = func() error { return nil }
	}
	waits := r.req.Listener != nil
	if !waits {
		if err := surrender(); err != nil {
			return err
		}
	}
	if err := r.launch(guard); err != nil || !waits {
		return err
	}
	return surrender()
}

type run struct {
	req     *Request
	res     Result
	begin   time.Time
	started time.Time
	over    time.Time
	ended   bool // the command's status is known
	failure error
	pending []syscall.Signal // that came before the command was there

	control *os.File
	ready   *os.File // our end of the pipe that lets the command start
	pid     int      // the launcher's
	events  chan event
}

// event is a message, or the end of the connection.
type event struct {
	child.Event
	fd int
}

// launch sends the launcher the spec and the descriptors.
func (r *run) launch(guard *Guard) error {
	r.req.Spec.Guard = guard.mode()
	spec, err := sys.SealedMemfd("ambit-spec", r.req.Spec.Encode())
	if err != nil {
		return &child.StepError{Step: "memfd_create", Err: err}
	}
	defer func() { _ = spec.Close() }()
	stdout, stderr, err := openOutputs(r.req.Stdout, r.req.Stderr)
	if err != nil {
		return err
	}
	defer r.req.Stdout.started()
	defer r.req.Stderr.started()
	awaits, err := r.readyPipe()
	if err != nil {
		return err
	}
	files := child.Files{
		Spec: int(spec.Fd()), WorkDir: int(r.req.WorkDir.Fd()), Ruleset: int(r.req.Ruleset.Fd()),
		Stdin: int(r.req.Stdin.Fd()), Stdout: int(stdout.Fd()), Stderr: int(stderr.Fd()),
		Guard: guard.pass(), Go: -1, Tmp: -1, Cgroup: -1,
	}
	if r.req.Cgroup != nil {
		files.Cgroup = int(r.req.Cgroup.Fd())
	}
	if r.req.Tmp != nil {
		files.Tmp = int(r.req.Tmp.Fd())
	}
	if awaits != nil {
		defer func() { _ = awaits.Close() }()
		files.Go = int(awaits.Fd())
	}
	if err := child.Launch(int(r.control.Fd()), files); err != nil {
		return &child.StepError{Step: "launcher", Err: err}
	}
	return nil
}

// readyPipe makes the pipe whose other end the command waits at, where there
// is a broker to wait for.
func (r *run) readyPipe() (*os.File, error) {
	if r.req.Listener == nil {
		return nil, nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, &child.StepError{Step: "pipe", Err: err}
	}
	r.ready = write
	return read, nil
}

// read turns messages into events until the connection ends.
func (r *run) read(fd int) {
	defer close(r.events)
	for {
		e, passed, err := child.ReceiveEvent(fd)
		if err != nil || e == nil {
			return
		}
		r.events <- event{e, passed}
	}
}

// follow handles what happens until the launcher closes the connection, which
// it does when nothing is left.
func (r *run) follow(ctx context.Context) error {
	var timeout <-chan time.Time
	if r.req.Timeout > 0 {
		t := time.NewTimer(r.req.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	var look <-chan time.Time
	if r.req.Exceeded != nil {
		t := time.NewTicker(lookTime)
		defer t.Stop()
		look = t.C
	}
	setup := time.NewTimer(setupTime)
	defer setup.Stop()
	done, signals := ctx.Done(), r.req.Signals
	var err error
	for {
		select {
		case e, ok := <-r.events:
			if !ok {
				return err
			}
			r.handle(e)
		case <-timeout:
			timeout = nil
			if !r.ended {
				r.res.TimedOut = true
				r.killTree()
			}
		case <-look:
			if !r.ended && r.req.Exceeded() {
				look = nil
				r.res.Exceeded = true
				r.killTree()
			}
		case <-done:
			done = nil
			if !r.ended {
				err = ctx.Err()
				r.killTree()
			}
		case <-setup.C:
			if r.settingUp() {
				r.giveUp(errSlow)
			}
		case s := <-signals:
			switch n, ok := s.(syscall.Signal); {
			case ok && r.settingUp():
				// Whether there is a command yet only its start will tell.
				r.pending = append(r.pending, n)
			case ok:
				child.SendSignal(int(r.control.Fd()), n)
			}
		}
	}
}

// lookTime is between two looks at what the command has used.
const lookTime = 200 * time.Millisecond

// setupTime bounds the set-up, which takes milliseconds; what holds it up for
// so long would hold it up for ever.
const setupTime = time.Minute

var errSlow = fmt.Errorf("it was not done after %v", setupTime)

// settingUp: there is no command yet, which a signal could be for.
func (r *run) settingUp() bool {
	return !r.res.Started && r.res.ExecErr == nil && r.failure == nil
}

// giveUp ends a set-up.
func (r *run) giveUp(why error) {
	r.failure = &child.StepError{Step: "set-up", Err: why}
	r.killTree()
}

// killTree ends our sending side, which the launcher takes for "kill".
func (r *run) killTree() { _ = syscall.Shutdown(int(r.control.Fd()), syscall.SHUT_WR) }

func (r *run) handle(e event) {
	fd := e.fd
	switch e := e.Event.(type) {
	case child.Listener:
		r.serve(fd)
	case child.Started:
		if errors.Is(r.failure, errSlow) {
			// It came to be just as the set-up was given up, and is being
			// killed: that is how it ended, and "nothing ran" would be wrong.
			r.failure = nil
		}
		for _, n := range r.pending {
			child.SendSignal(int(r.control.Fd()), n)
		}
		r.res.Started, r.started = true, time.Now()
		r.res.Setup = r.started.Sub(r.begin)
		if r.req.Started != nil {
			r.req.Started()
		}
	case child.ExecFailed:
		r.res.ExecFile, r.res.ExecErr = e.File, e.Err
	case *child.StepError:
		if r.failure == nil { // the first one is the cause
			r.failure = e
		}
	case child.Ended:
		r.ended, r.res.Status, r.over = true, e.Status, time.Now()
		r.res.Run = r.over.Sub(r.started)
	case child.Left:
		r.res.Left = true
	}
}

// serve hands the listener to the broker and lets the command start, or, if
// the broker can't serve it, lets it fail.
func (r *run) serve(fd int) {
	if r.req.Listener == nil || r.ready == nil || fd < 0 {
		return
	}
	if err := r.req.Listener(fd, r.pid); err != nil {
		r.failure = &child.StepError{Step: "start the broker", Err: err}
	} else {
		_, _ = r.ready.Write([]byte{1})
	}
	_ = r.ready.Close()
	r.ready = nil
}

// finish waits for the launcher and for the output it may have left behind.
// Whatever went wrong before, the launcher is told to end first, and so is a
// command that still waits for the broker: the launcher waits for it.
func (r *run) finish() {
	r.killTree()
	if r.ready != nil {
		_ = r.ready.Close()
	}
	ws := sys.WaitFor(r.pid)
	r.res.Killed = ws.Signaled()
	// It ends so after wait(2) found no child left, or gave up and said so;
	// what is below it has no way out of being its child some day.
	r.res.Emptied = r.ended && ws.Exited() && ws.ExitStatus() == 0 && !r.res.Left
	_ = r.control.Close()
	if !r.over.IsZero() {
		r.res.Sweep = time.Since(r.over)
	}
	r.req.Stdout.drain()
	r.req.Stderr.drain()
}

// Adopter is a process that takes over what a killed launcher leaves.
type Adopter struct{ own map[int]bool }

// Adopt makes this process the one that the command's processes fall to if
// the launcher is killed. It has no children yet but those that it got with
// its own execution ("exec ambit" in a shell with jobs), which are spared.
func Adopt() (*Adopter, error) {
	a := &Adopter{own: map[int]bool{}}
	if sys.HasChildren() {
		for _, pid := range child.Children(os.Getpid()) {
			a.own[pid] = true
		}
	}
	return a, sys.BecomeSubreaper()
}

// Kill ends every child of this process, and theirs, for at most the given
// time. It is for a launcher that was killed.
func (a *Adopter) Kill(limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		left := 0
		for _, pid := range child.Children(os.Getpid()) {
			if a.own[pid] {
				continue
			}
			left++
			_ = sys.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG|syscall.WALL, nil)
		}
		if left == 0 {
			return nil
		}
	}
	return fmt.Errorf("cannot end all processes that the command left within %v", limit)
}
