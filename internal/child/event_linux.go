// SPDX-License-Identifier: Apache-2.0

package child

import (
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Event is what the launcher tells the supervisor: [Listener], [Started],
// [ExecFailed], *[StepError], [Ended] or [Left].
type Event any

type (
	// Listener comes with the seccomp listener as a passed descriptor.
	Listener struct{}
	// Started: the command's execve succeeded.
	Started struct{ PID int }
	// ExecFailed: the command could not be executed; the sandbox stood.
	ExecFailed struct {
		File string
		Err  error
	}
	// Ended: the command itself ended; its tree is being killed.
	Ended struct{ Status syscall.WaitStatus }
	// Left: the launcher gave up on processes that SIGKILL does not end.
	Left struct{}
)

// ReceiveEvent reads the next event from a control connection, and the
// descriptor that was passed with it (-1: none). A nil event is the end of
// the connection.
func ReceiveEvent(fd int) (Event, int, error) {
	buf := make([]byte, maxMessage)
	n, passed, err := sys.Receive(fd, buf)
	if err != nil || n == 0 {
		return nil, -1, err
	}
	listener := -1
	if len(passed) > 0 {
		listener = passed[0]
	}
	m, err := decodeMessage(buf[:n])
	if err != nil {
		return nil, listener, err
	}
	return m.event(), listener, nil
}

func (m message) event() Event {
	switch m.kind {
	case msgListener:
		return Listener{}
	case msgStarted:
		return Started{int(m.number)}
	case msgExec:
		return ExecFailed{m.text, m.errno()}
	case msgEnded:
		return Ended{syscall.WaitStatus(m.number)}
	case msgLeft:
		return Left{}
	}
	step, object, _ := strings.Cut(m.text, "\x00")
	return &StepError{step, object, m.errno()}
}

// SendSignal asks the launcher to send a signal to the command. That it is
// gone already is no error.
func SendSignal(fd int, s syscall.Signal) {
	_ = sys.Send(fd, message{kind: msgSignal, number: uint32(s)}.encode())
}
