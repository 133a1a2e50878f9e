// SPDX-License-Identifier: Apache-2.0

// Package sdnotify tells the service manager that started this process how it
// is, by the protocol of sd_notify(3): lines of NAME=VALUE in a datagram to the
// socket that the variable NOTIFY_SOCKET names.
package sdnotify

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Messages that the manager knows.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
	Alive    = "WATCHDOG=1"
)

// Status is the message that says in one line, for people, how it is.
func Status(text string) string { return "STATUS=" + strings.ReplaceAll(text, "\n", " ") }

// Socket is the manager's. Nil is that of a manager who did not ask, or of
// none: it takes messages, and does nothing.
type Socket struct {
	name string
	// every is how often the manager wants to hear that the process lives; zero
	// if it does not.
	every time.Duration
}

// Open reads what the manager asked for from the environment, and removes it
// there: it is for this process, not for what this one starts.
func Open() (*Socket, error) {
	name, usec, pid := take("NOTIFY_SOCKET"), take("WATCHDOG_USEC"), take("WATCHDOG_PID")
	if name == "" {
		return nil, nil
	}
	if name[0] != '/' && name[0] != '@' {
		return nil, fmt.Errorf("cannot use NOTIFY_SOCKET %q: it is no path of a unix socket", name)
	}
	s := &Socket{name: name}
	if usec == "" || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return s, nil
	}
	n, err := strconv.ParseUint(usec, 10, 53)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("cannot use WATCHDOG_USEC %q: it is no number of microseconds", usec)
	}
	s.every = time.Duration(n) * time.Microsecond
	return s, nil
}

func take(name string) string {
	v := os.Getenv(name)
	_ = os.Unsetenv(name)
	return v
}

// Watchdog is the longest time between two [Alive] that the manager accepts;
// zero if it does not wait for them.
func (s *Socket) Watchdog() time.Duration {
	if s == nil {
		return 0
	}
	return s.every
}

// Asked says whether a manager listens.
func (s *Socket) Asked() bool { return s != nil }

// Send sends the messages together.
func (s *Socket) Send(messages ...string) error {
	if s == nil {
		return nil
	}
	// "@" stands for the NUL of an abstract name here and in package net alike.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: s.name, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("cannot tell the service manager: %w", err)
	}
	defer func() { _ = c.Close() }()
	if err := c.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return fmt.Errorf("cannot tell the service manager: %w", err)
	}
	if _, err := c.Write([]byte(strings.Join(messages, "\n"))); err != nil {
		return fmt.Errorf("cannot tell the service manager: %w", err)
	}
	return nil
}

// sendTime bounds the wait for a manager that does not read.
const sendTime = 5 * time.Second
