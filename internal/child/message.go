// SPDX-License-Identifier: Apache-2.0

package child

import (
	"encoding/binary"
	"fmt"
	"syscall"
)

// The control connection keeps message boundaries. A message is one kind
// byte and, depending on it, numbers and text. The end of the connection is
// a message too: for the launcher it means "kill everything", for the
// supervisor "nothing is left".
type kind byte

const (
	// msgLaunch asks the launcher to start the command. It carries the
	// descriptors in the order of [Files]; number is their presence.
	msgLaunch kind = 'r'
	// msgListener carries the seccomp listener as a passed descriptor.
	msgListener kind = 'l'
	// msgStarted: the command's execve succeeded; number is its pid.
	msgStarted kind = 's'
	// msgStep: a step failed; number is the errno, text "step\x00object".
	msgStep kind = 'e'
	// msgExec: the command could not be executed; number is the errno, text
	// the file.
	msgExec kind = 'x'
	// msgEnded: the command ended; number is its wait status.
	msgEnded kind = 'w'
	// msgLeft: the tree could not be ended in time; number is how long was
	// waited, in seconds.
	msgLeft kind = 't'
	// msgSignal asks the launcher to send signal number to the command.
	msgSignal kind = 'k'
)

// maxMessage holds a path of PATH_MAX and the rest of a message.
const maxMessage = 8192

type message struct {
	kind   kind
	number uint32
	text   string
}

func (m message) encode() []byte {
	b := binary.LittleEndian.AppendUint32([]byte{byte(m.kind)}, m.number)
	text := m.text
	if len(text) > maxMessage-len(b) {
		text = text[:maxMessage-len(b)]
	}
	return append(b, text...)
}

func decodeMessage(b []byte) (message, error) {
	if len(b) < 5 {
		return message{}, fmt.Errorf("cannot read a launcher message of %d bytes", len(b))
	}
	return message{kind(b[0]), binary.LittleEndian.Uint32(b[1:]), string(b[5:])}, nil
}

// errno gives a number that travelled as one its type back.
func (m message) errno() error { return syscall.Errno(m.number) }
