// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// maxFrame bounds a message.
const maxFrame = 8 << 20

// Conn sends and receives messages over a unix stream socket. One goroutine
// may receive while another sends.
type Conn struct {
	// Send writes bytes, with descriptors at the first of them, and returns
	// how many bytes went. Receive reads some, and what came with them.
	Send    func(b []byte, pass ...int) (int, error)
	Receive func(b []byte) (int, []int, error)
}

// onDescriptor is a connection over a blocking socket.
func onDescriptor(fd int) *Conn {
	return &Conn{
		Send:    func(b []byte, pass ...int) (int, error) { return sys.SendSome(fd, b, pass...) },
		Receive: func(b []byte) (int, []int, error) { return sys.Receive(fd, b) },
	}
}

// Write sends a message, and descriptors with it.
func (c *Conn) Write(m *Message, pass ...int) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > maxFrame {
		return fmt.Errorf("cannot send a message of %d bytes: %w", len(b), errTooLong)
	}
	b = append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(b)), uint32(len(b))), b...)
	for len(b) > 0 {
		n, err := c.Send(b, pass...)
		if err != nil {
			return err
		}
		b, pass = b[n:], nil
	}
	return nil
}

var errTooLong = errors.New("it is too long")

// Read receives a message and the descriptors that belong to it. The error is
// io.EOF at the end of the connection.
func (c *Conn) Read() (*Message, []*os.File, error) {
	var fds []int
	m, err := c.read(&fds)
	if err == nil && len(fds) != m.Kind.passed() {
		// The limit of open files cuts descriptors off (unix(7), MSG_CTRUNC).
		err = fmt.Errorf("cannot read the message %q: %d descriptors came instead of %d", m.Kind, len(fds), m.Kind.passed())
	}
	if err != nil {
		for _, fd := range fds {
			_ = syscall.Close(fd)
		}
		return nil, nil, err
	}
	files := make([]*os.File, len(fds))
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "passed")
	}
	return m, files, nil
}

func (c *Conn) read(fds *[]int) (*Message, error) {
	head := make([]byte, 4)
	if err := c.fill(head, fds); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head)
	if n > maxFrame {
		return nil, fmt.Errorf("cannot read a message of %d bytes: %w", n, errTooLong)
	}
	body := make([]byte, n)
	if err := c.fill(body, fds); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	m := &Message{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("cannot read a message: %w", err)
	}
	return m, nil
}

// fill reads until b is full. No read goes beyond a message, whose
// descriptors come with its first byte (unix(7), "Ancillary messages").
func (c *Conn) fill(b []byte, fds *[]int) error {
	for at := 0; at < len(b); {
		n, passed, err := c.Receive(b[at:])
		*fds = append(*fds, passed...)
		switch {
		case at > 0 && (errors.Is(err, io.EOF) || err == nil && n <= 0):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case n <= 0:
			return io.EOF
		}
		at += n
	}
	return nil
}
