// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// childTime bounds the life of one probe child. Each takes some milliseconds;
// on an emulated processor with a busy console two seconds were not enough, nor
// might five be on a machine that is loaded as well.
const childTime = 20 * time.Second

// self is this program. The link is resolved by the kernel, so it works even
// where the file was replaced or removed since.
const self = "/proc/self/exe"

// idMap says which user a child is in its new user namespace.
type idMap int

const (
	mapNobody idMap = iota // nobody is mapped: the overflow user
	mapRoot                // the caller is root
)

// childSpec describes one probe child.
type childSpec struct {
	// name is its entry in the table of Dispatch, args what that gets.
	name string
	args []string
	// namespaces are CLONE_NEW* flags, users its ids in a new user namespace.
	namespaces uintptr
	users      idMap
	// heard is called for each step that the child ends, while the child
	// waits for its standard input to be closed; nil: nothing to do.
	heard func(pid int, s step)
}

// runChild starts a probe child, reads its steps to the end and makes sure
// that it is gone.
func runChild(ctx context.Context, spec childSpec) outcome {
	ctx, cancel := context.WithTimeout(ctx, childTime)
	defer cancel()
	c, err := startChild(spec)
	if err != nil {
		return outcome{err: err}
	}
	stop := context.AfterFunc(ctx, func() { _ = c.proc.Kill() })
	defer stop()
	steps := c.listen(ctx, spec.heard)
	state, err := c.proc.Wait()
	return readEnd(ctx, steps, state, err)
}

// readEnd tells how the child ended. Only an end of its own making proves
// that a step which is missing was never reached.
func readEnd(ctx context.Context, steps []step, state *os.ProcessState, err error) outcome {
	o := outcome{steps: steps}
	switch ws, _ := state.Sys().(syscall.WaitStatus); {
	case err != nil:
		o.err = fmt.Errorf("cannot wait for a probe process: %w", err)
	case ctx.Err() != nil:
		o.err = fmt.Errorf("cannot finish a probe process: %w", ctx.Err())
	case ws.Signaled() && ws.Signal() == syscall.SIGSYS:
		o.badCall = true
	case ws.Signaled():
		o.err = fmt.Errorf("a probe process was killed by signal %d", ws.Signal())
	case ws.ExitStatus() != 0:
		o.err = fmt.Errorf("a probe process ended with status %d", ws.ExitStatus())
	}
	return o
}

// child is a running probe child with our ends of its two pipes.
type child struct {
	proc  *os.Process
	hold  *os.File // its standard input: it may wait for the end of it
	steps *os.File // its standard output and error
}

func startChild(spec childSpec) (*child, error) {
	stdin, hold, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start a probe process: %w", err)
	}
	defer stdin.Close()
	steps, stdout, err := os.Pipe()
	if err != nil {
		_ = hold.Close()
		return nil, fmt.Errorf("cannot start a probe process: %w", err)
	}
	defer stdout.Close()
	proc, err := spec.exec([]*os.File{stdin, stdout, stdout})
	if err != nil {
		_, _ = hold.Close(), steps.Close()
		return nil, fmt.Errorf("cannot start a probe process: %w", err)
	}
	return &child{proc, hold, steps}, nil
}

// exec starts the program. In a new mount namespace the link leads to a file of
// the old one, which an AppArmor profile without attach_disconnected refuses
// to execute (apparmor.d(5), "disconnected paths"). The program's own path,
// where it still names the same file, then does.
func (spec childSpec) exec(files []*os.File) (*os.Process, error) {
	argv := append([]string{"ambit", childArg, spec.name}, spec.args...)
	attr := &os.ProcAttr{
		Env:   []string{}, // not ours: nil would pass the caller's secrets
		Files: files,
		Sys:   spec.sysProcAttr(),
	}
	proc, err := os.StartProcess(self, argv, attr)
	if spec.namespaces&syscall.CLONE_NEWNS == 0 || !errors.Is(err, syscall.EACCES) {
		return proc, err
	}
	path, ok := ownPath()
	if !ok {
		return nil, err
	}
	return os.StartProcess(path, argv, attr)
}

// ownPath returns the path of this program if it still stands there.
func ownPath() (string, bool) {
	path, err := os.Readlink(self)
	if err != nil {
		return "", false
	}
	there, err1 := os.Stat(path)
	here, err2 := os.Stat(self)
	return path, err1 == nil && err2 == nil && os.SameFile(there, here)
}

func (spec childSpec) sysProcAttr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: spec.namespaces}
	if spec.namespaces&syscall.CLONE_NEWUSER != 0 && spec.users == mapRoot {
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// listen collects the child's steps until it closes its output. Lines that
// are no steps come from a crash of the child, which its end tells as well.
func (c *child) listen(ctx context.Context, heard func(int, step)) []step {
	defer c.steps.Close()
	if heard == nil {
		_ = c.hold.Close()
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = c.steps.SetReadDeadline(deadline)
	}
	var steps []step
	lines := bufio.NewScanner(io.LimitReader(c.steps, 1<<16))
	for lines.Scan() {
		var s step
		if json.Unmarshal(lines.Bytes(), &s) != nil || s.Name == "" {
			continue
		}
		steps = append(steps, s)
		if heard != nil && s.Done {
			heard(c.proc.Pid, s)
			_ = c.hold.Close()
		}
	}
	return steps
}

// tryClone makes a child in new namespaces and lets it come as far as its
// execve, of a file that does not exist. That tells a refused namespace, or a
// refused map of its users, from a refused execve in it: nil says that the
// namespace was made.
func tryClone(spec childSpec) error {
	proc, err := os.StartProcess("/proc/self/no-such-program", []string{"ambit"}, &os.ProcAttr{
		Env: []string{}, Sys: spec.sysProcAttr(),
	})
	switch {
	case err == nil: // cannot be, and must not stay
		_ = proc.Kill()
		_, _ = proc.Wait()
		return nil
	case errors.Is(err, syscall.ENOENT):
		return nil
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return os.NewSyscallError("clone", errno) // the name of the file says nothing
	}
	return err
}
