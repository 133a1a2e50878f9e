// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// A stream holds at most this many pieces of this size that its reader has not
// taken yet.
const (
	pieceSize = 32 << 10
	maxPieces = 8
)

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// output carries one of the command's streams to a writer. The pipe is always
// read: what there is no room for, after some patience, is discarded.
type output struct {
	w        io.Writer
	patience time.Duration
	pipe     *os.File

	room chan struct{} // an entry for each piece that is under way
	full chan []byte
	read chan struct{} // closed when nothing comes any more
	sent chan struct{} // closed when all was written

	mu               sync.Mutex
	total, discarded int64
	failed           bool // the writer takes no more
	last             time.Time
}

// newOutput starts to carry, and returns the end of the pipe that is the
// command's.
func newOutput(w io.Writer, patience time.Duration) (*output, int, error) {
	var fds [2]int
	// Our end must not block, the command's must: the flag is the open file's.
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		return nil, -1, os.NewSyscallError("pipe2", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
		return nil, -1, os.NewSyscallError("fcntl(F_SETFL)", err)
	}
	if w == nil {
		w = io.Discard
	}
	o := &output{
		w: w, patience: patience, pipe: os.NewFile(uintptr(fds[0]), "output"),
		room: make(chan struct{}, maxPieces), full: make(chan []byte, maxPieces),
		read: make(chan struct{}), sent: make(chan struct{}), last: time.Now(),
	}
	go o.take()
	go o.pass()
	return o, fds[1], nil
}

// take reads the pipe to its end.
func (o *output) take() {
	defer close(o.read)
	defer close(o.full)
	for {
		buf := pieces.Get().(*[pieceSize]byte)
		n, err := o.pipe.Read(buf[:])
		o.queue(buf, n)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			o.rest()
		}
		if err != nil {
			return
		}
	}
}

// queue hands a piece to the writer, or discards it.
func (o *output) queue(buf *[pieceSize]byte, n int) {
	o.mu.Lock()
	o.total += int64(max(n, 0))
	o.mu.Unlock()
	if n > 0 && o.waitForRoom() {
		if len(o.room) == 1 {
			o.touch() // the writer has had nothing to do, however long
		}
		o.full <- buf[:n] // each entry of room has one here
		return
	}
	o.discard(n)
	pieces.Put(buf)
}

// waitForRoom waits as long as the writer has not been still for too long.
func (o *output) waitForRoom() bool {
	for {
		select {
		case o.room <- struct{}{}:
			return true
		default:
		}
		left := o.stillFor()
		if left <= 0 {
			return false
		}
		t := time.NewTimer(left)
		select {
		case o.room <- struct{}{}:
			t.Stop()
			return true
		case <-t.C:
		}
	}
}

// stillFor returns what is left of the patience with the writer.
func (o *output) stillFor() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.patience - time.Since(o.last)
}

func (o *output) touch() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Now()
}

func (o *output) discard(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.discarded += int64(max(n, 0))
}

// pass writes what was taken. Time counts against the writer only while it has
// something to write.
func (o *output) pass() {
	defer close(o.sent)
	for b := range o.full {
		o.write(b)
		pieces.Put((*[pieceSize]byte)(b[:pieceSize]))
		<-o.room
	}
}

func (o *output) write(b []byte) {
	o.mu.Lock()
	failed := o.failed
	o.last = time.Now()
	o.mu.Unlock()
	var err error
	if !failed {
		_, err = o.w.Write(b)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Now()
	if o.failed = o.failed || err != nil; o.failed {
		o.discarded += int64(len(b))
	}
}

// drainTime bounds the wait for the pipe's end when the whole tree is gone:
// only a descriptor that was passed to a process outside holds it open then.
const drainTime = 2 * time.Second

// finish waits for what is under way when the tree is gone, and returns the
// counts. A writer that has been still for too long is left alone.
func (o *output) finish() (total, discarded int64) {
	select {
	case <-o.read:
	case <-time.After(drainTime):
		_ = o.pipe.SetReadDeadline(time.Unix(1, 0))
		<-o.read // it waits for nothing but room, and that not for ever
	}
	_ = o.pipe.Close()
	for {
		left := o.stillFor()
		select {
		case <-o.sent:
			return o.counts()
		default:
		}
		if left <= 0 {
			return o.abandon()
		}
		t := time.NewTimer(left)
		select {
		case <-o.sent:
		case <-t.C:
		}
		t.Stop()
	}
}

func (o *output) counts() (int64, int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total, o.discarded
}

// abandon has the writer called no more, and counts what it was not given.
func (o *output) abandon() (int64, int64) {
	o.mu.Lock()
	o.failed = true
	o.mu.Unlock()
	for {
		select {
		case b, ok := <-o.full:
			if !ok {
				return o.counts()
			}
			o.discard(len(b))
			continue
		default:
		}
		return o.counts()
	}
}

// pipeSize is the most that a user's pipe can hold (pipe(7), pipe-max-size).
const pipeSize = 1 << 20

// rest takes what is in the pipe, and waits for nothing more.
func (o *output) rest() {
	conn, err := o.pipe.SyscallConn()
	if err == nil {
		err = o.pipe.SetReadDeadline(time.Time{})
	}
	for left := pipeSize; left > 0 && err == nil; {
		buf := pieces.Get().(*[pieceSize]byte)
		n := 0
		var errno error
		err = conn.Read(func(fd uintptr) bool {
			n, errno = syscall.Read(int(fd), buf[:])
			return true
		})
		o.queue(buf, n)
		if err == nil && errno == syscall.EINTR {
			continue
		}
		if errno != nil || n <= 0 {
			return
		}
		left -= n
	}
}
