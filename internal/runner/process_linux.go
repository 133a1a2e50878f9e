// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/supervisor"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// program is the supervisor's binary: the very file that was opened, whatever
// has happened to its name since.
type program struct {
	name string
	fd   int
	null int
	// build is what it must be.
	build    string
	children *children
}

// lowest is a number above those that a child's descriptors get.
const lowest = 10

func openProgram(name, build string, c *children) (*program, error) {
	p := &program{name: name, fd: -1, null: -1, build: build, children: c}
	var err error
	if p.fd, err = openAbove(name, syscall.O_RDONLY|syscall.O_NONBLOCK); err == nil {
		p.null, err = openAbove(os.DevNull, syscall.O_RDWR)
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("cannot open the supervisor's program: %w", err)
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(p.fd, &st); err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		p.close()
		return nil, fmt.Errorf("cannot use %s as the supervisor's program: it is no regular file", name)
	}
	return p, nil
}

func openAbove(name string, flags int) (int, error) {
	fd, err := syscall.Open(name, flags|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	return sys.DuplicateFrom(fd, lowest)
}

func (p *program) close() {
	for _, fd := range []int{p.fd, p.null} {
		if fd >= 0 {
			_ = syscall.Close(fd)
		}
	}
}

// exec starts the program. Package syscall moves descriptors of the child out
// of the way to numbers above the highest that it passes (forkAndExecInChild,
// syscall/exec_linux.go): one that is passed is above the program's own, so
// that this is never the one to be overwritten.
func (p *program) exec(args, env []string, files ...int) (int, error) {
	above, err := sys.DuplicateFrom(files[len(files)-1], p.fd+1)
	if err != nil {
		return 0, err
	}
	defer func() { _ = syscall.Close(above) }()
	attr := &syscall.ProcAttr{Dir: "/", Env: env, Sys: &syscall.SysProcAttr{Setsid: true}}
	for _, fd := range files[:len(files)-1] {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	attr.Files = append(attr.Files, uintptr(above))
	pid, err := p.children.start(func() (int, error) {
		return syscall.ForkExec(fmt.Sprintf("/proc/self/fd/%d", p.fd), args, attr)
	})
	if err != nil {
		return 0, fmt.Errorf("cannot start the supervisor %s: %w", p.name, err)
	}
	return pid, nil
}

// process is a supervisor that waits for its one request, or works on it.
type process struct {
	pid      int
	socket   *os.File
	conn     *supervisor.Conn
	faults   int      // what it says on stderr
	launcher *os.File // a pidfd: when it has ended, nothing is left
	children *children
	// orderly: it has ended by itself, with everything that it started.
	orderly bool
}

// readyTime bounds a supervisor's start, which takes some milliseconds.
const readyTime = 30 * time.Second

// start starts a supervisor and waits until it is ready.
func (p *program) start(ctx context.Context) (*process, error) {
	s := &process{faults: -1, children: p.children}
	if err := s.exec(p); err != nil {
		return nil, err
	}
	_ = s.socket.SetReadDeadline(time.Now().Add(readyTime))
	stop := context.AfterFunc(ctx, func() { _ = s.socket.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	m, files, err := s.conn.Read()
	if err == nil {
		err = s.accept(m, files, p)
	}
	if err == nil && !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		s.kill()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		err = fmt.Errorf("cannot use the supervisor %s: %w%s", p.name, err, s.said())
		s.close()
		return nil, err
	}
	_ = s.socket.SetReadDeadline(time.Time{})
	return s, nil
}

// exec makes the connection and starts the program.
func (s *process) exec(p *program) error {
	ours, theirs, err := sys.StreamPair()
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(theirs) }()
	if s.socket, err = socketOf(ours); err != nil {
		return err
	}
	if s.conn, err = connOver(s.socket); err != nil {
		s.close()
		return err
	}
	// Neither side waits at this pipe: a supervisor that has much to complain
	// of loses some of it.
	var pipe [2]int
	if err = syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err == nil {
		s.faults = pipe[0]
		defer func() { _ = syscall.Close(pipe[1]) }()
		s.pid, err = p.exec([]string{"ambit", supervisor.Arg}, []string{}, p.null, p.null, pipe[1], theirs)
	}
	if err != nil {
		s.close()
	}
	return err
}

func (s *process) accept(m *supervisor.Message, files []*os.File, p *program) error {
	if len(files) == 1 {
		s.launcher = files[0]
	}
	switch {
	case m.Kind != supervisor.Ready || s.launcher == nil:
		return fmt.Errorf("its first message is %q", m.Kind)
	case m.Protocol != supervisor.Protocol || m.Build != p.build:
		return fmt.Errorf("it is %q with protocol %d, and this program is %q with protocol %d; install both from one release",
			m.Build, m.Protocol, p.build, supervisor.Protocol)
	}
	return nil
}

// alive reports whether a waiting supervisor is still there.
func (s *process) alive() bool {
	raw, err := s.socket.SyscallConn()
	if err != nil {
		return false
	}
	gone := true
	_ = raw.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = err != syscall.EAGAIN
	})
	return !gone
}

// kill ends the supervisor and waits for it. Its launcher then ends the tree.
func (s *process) kill() {
	if s.pid > 0 {
		_ = sys.Kill(s.pid, syscall.SIGKILL)
		ws := s.children.wait(s.pid)
		s.orderly = ws.Exited() && ws.ExitStatus() == 0
		s.pid = 0
	}
}

// treeTime bounds the wait for a launcher whose supervisor is gone.
const treeTime = 40 * time.Second

// settled waits until the launcher has ended, and says whether it has.
func (s *process) settled(most time.Duration) bool {
	if s.launcher == nil {
		return true
	}
	for end := time.Now().Add(most); ; {
		fds := []sys.PollFD{{Fd: int32(s.launcher.Fd()), Events: sys.PollIn}}
		errno := sys.Poll(fds, max(time.Until(end), 0))
		if errno != 0 || fds[0].Revents != 0 || time.Now().After(end) {
			return fds[0].Revents&sys.PollIn != 0
		}
	}
}

// mostSaid bounds what is kept of a supervisor's complaints.
const mostSaid = 4 << 10

// said returns what the supervisor wrote to stderr, for an error's end.
func (s *process) said() string {
	if s.faults < 0 {
		return ""
	}
	b := make([]byte, mostSaid)
	n, err := syscall.Read(s.faults, b)
	if text := strings.TrimSpace(string(b[:max(n, 0)])); err == nil && text != "" {
		return " (" + text + ")"
	}
	return ""
}

// abortTime bounds the wait for a launcher that has nothing to launch. One that
// takes longer is waited for by a later sweep.
const abortTime = 2 * time.Second

// close ends a supervisor that has no command, and lets go of everything. The
// launcher of one that was killed has fallen to this process.
func (s *process) close() {
	_ = s.socket.Close()
	s.kill()
	if s.launcher != nil {
		if !s.orderly && s.settled(abortTime) {
			s.children.reap(int(s.launcher.Fd()))
		}
		_ = s.launcher.Close()
	}
	if s.faults >= 0 {
		_ = syscall.Close(s.faults)
	}
}
