// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/child"
)

// Output is where one of the command's output streams goes: straight to a
// file, or through a pipe to a writer, with a limit or without.
type Output struct {
	direct *os.File
	w      io.Writer
	limit  int64 // of bytes passed to w; -1 is none

	theirs, ours *os.File
	done         chan struct{}

	mu               sync.Mutex
	total, discarded int64
	tail             tail
}

// Direct passes a file on as it is: a terminal stays one.
func Direct(f *os.File) *Output { return &Output{direct: f} }

// Copied copies at most limit bytes to w; -1 is no limit. What comes after is
// read, counted and discarded, so the command is never held up or killed by
// it. w need not be safe for concurrent use.
func Copied(w io.Writer, limit int64) *Output { return &Output{w: w, limit: limit} }

// Remember has the last bytes of a copied output kept, at most so many, beyond
// its limit too. It must be called before the launch.
func (o *Output) Remember(most int) { o.tail.most = most }

// Lines returns the whole lines of what is remembered; of a direct output, which
// nobody reads, there are none.
func (o *Output) Lines() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.tail.lines()
}

// Counts returns how many bytes the command wrote, and how many of them were
// discarded. Both are 0 for a direct output, which nobody reads.
func (o *Output) Counts() (total, discarded int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total, o.discarded
}

func openOutputs(stdout, stderr *Output) (*os.File, *os.File, error) {
	a, err := stdout.open()
	if err != nil {
		return nil, nil, err
	}
	b, err := stderr.open()
	if err != nil {
		stdout.started()
		stdout.drain()
		return nil, nil, err
	}
	return a, b, nil
}

// open returns the command's end.
func (o *Output) open() (*os.File, error) {
	if o.direct != nil {
		return o.direct, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, &child.StepError{Step: "pipe", Err: err}
	}
	o.ours, o.theirs, o.done = r, w, make(chan struct{})
	go o.copy()
	return w, nil
}

// started closes our copy of the command's end.
func (o *Output) started() {
	if o.theirs != nil {
		_ = o.theirs.Close()
		o.theirs = nil
	}
}

func (o *Output) copy() {
	defer close(o.done)
	buf := make([]byte, 64<<10)
	for {
		n, err := o.ours.Read(buf)
		if o.take(buf[:n]) != nil {
			// Nobody reads on: the command learns it as it would without
			// us, by SIGPIPE.
			_ = o.ours.Close()
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			o.rest(buf)
		}
		if err != nil {
			return
		}
	}
}

// pipeSize is the most that a user's pipe can hold (pipe(7), pipe-max-size).
const pipeSize = 1 << 20

// rest takes what is in the pipe when the time is over, and waits for nothing
// more: however slow the reader on the other side was, none of it is lost.
func (o *Output) rest(buf []byte) {
	conn, err := o.ours.SyscallConn()
	if err == nil {
		err = o.ours.SetReadDeadline(time.Time{})
	}
	for left := pipeSize; left > 0 && err == nil; {
		n := 0
		var errno error
		err = conn.Read(func(fd uintptr) bool {
			n, errno = syscall.Read(int(fd), buf) // its pipe does not block
			return true
		})
		if errno == syscall.EINTR {
			continue
		}
		if errno != nil || n <= 0 || o.take(buf[:n]) != nil {
			return
		}
		left -= n
	}
}

// take passes on what the limit leaves room for, and counts the rest. The
// error is the writer's.
func (o *Output) take(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail.add(b)
	keep := int64(len(b))
	if o.limit >= 0 {
		keep = min(keep, o.limit-(o.total-o.discarded))
	}
	o.total += int64(len(b))
	o.discarded += int64(len(b)) - keep
	if keep == 0 {
		return nil
	}
	_, err := o.w.Write(b[:keep])
	return err
}

// drainTime bounds the wait for output that is still in a pipe when every
// process that was in the tree is gone: only a descriptor that was passed to
// a process outside can hold the pipe open by then.
const drainTime = 2 * time.Second

func (o *Output) drain() {
	if o.done == nil {
		return
	}
	select {
	case <-o.done:
	case <-time.After(drainTime):
		_ = o.ours.SetReadDeadline(time.Now())
	}
	<-o.done
	_ = o.ours.Close()
}

// File returns the file that is passed on as it is; nil for a copied output.
func (o *Output) File() *os.File { return o.direct }

// Counted reports whether the output passes through us.
func (o *Output) Counted() bool { return o.direct == nil }
