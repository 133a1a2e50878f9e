// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// fdControl is the connection to the service.
const fdControl = 3

// Main is the supervisor: it gets ready, runs one request and returns the exit
// code. What it could not tell the service is on stderr.
func Main() int {
	s := &supervisor{conn: onDescriptor(fdControl)}
	// The connection is no child's. The launcher must not hold it open.
	syscall.CloseOnExec(fdControl)
	if err := s.serve(); err != nil {
		fmt.Fprintln(os.Stderr, "ambit: cannot supervise, which the service asks for:", err)
		return 1
	}
	return 0
}

type supervisor struct {
	conn    *Conn
	sending sync.Mutex
}

func (s *supervisor) serve() error {
	prepared, prepareErr := ambit.Prepare()
	if err := s.ready(prepared); err != nil {
		prepared.Close()
		return err
	}
	m, files, err := s.conn.Read()
	if err != nil || m.Kind != Run {
		prepared.Close()
		return s.unused(m, err)
	}
	q, err := readRequest(files[0])
	if err != nil {
		prepared.Close()
		return err
	}
	c := s.command(q, files[1:])
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 16)
	c.Signals = signals
	go s.listen(cancel, signals)
	run := ambit.Run
	if prepareErr == nil {
		run = prepared.Run
	} // else it fails once more, with a receipt, or works this time
	res, err := run(ctx, c)
	return s.done(res, err)
}

// unused is how a supervisor ends that was not needed.
func (s *supervisor) unused(m *Message, err error) error {
	if err == nil && m.Kind != Cancel {
		return fmt.Errorf("the message %q came before a request", m.Kind)
	}
	if isEnd(err) {
		return nil
	}
	return err
}

// ready says who is there, and passes a handle on the launcher: by it the
// service sees when nothing is left, should this process be killed. Where no
// launcher could be started, it is one on this process.
func (s *supervisor) ready(p *ambit.Prepared) error {
	pid := func() (*os.File, error) { return sys.PidFile(os.Getpid()) }
	if p != nil {
		pid = p.Launcher
	}
	handle, err := pid()
	if err != nil {
		return err
	}
	defer func() { _ = handle.Close() }()
	return s.conn.Write(&Message{Kind: Ready, Protocol: Protocol, Build: Build()}, int(handle.Fd()))
}

func readRequest(f *os.File) (*Request, error) {
	defer func() { _ = f.Close() }()
	sealed, err := sys.IsSealed(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	if !sealed {
		return nil, errors.New("the request can still be changed")
	}
	b, err := sys.ReadWhole(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return DecodeRequest(b)
}

func (s *supervisor) command(q *Request, streams []*os.File) *ambit.Command {
	return &ambit.Command{
		Argv: q.Argv, Layers: q.Layers, Bounds: q.Bounds, Dir: q.Dir, Environ: q.Environ, Secrets: q.Secrets, Cgroup: q.Cgroup,
		// stderr is copied, so that a failed command's messages can be looked at.
		Stdin: streams[0], Stdout: streams[1], Stderr: struct{ io.Writer }{streams[2]},
		Starting:  func() { s.tell(Starting) },
		Started:   func() { s.tell(Started) },
		Exclusive: true, Dedicated: true,
	}
}

// listen obeys the service until it is gone.
func (s *supervisor) listen(cancel func(), signals chan<- os.Signal) {
	defer cancel()
	for {
		m, _, err := s.conn.Read() // no message after the first carries anything
		if err != nil || m.Kind == Cancel {
			return
		}
		if m.Kind == Signal {
			select {
			case signals <- syscall.Signal(m.Signal):
			default: // nobody takes them: the run is over, or about to be
			}
		}
	}
}

func (s *supervisor) tell(k Kind) {
	s.sending.Lock()
	defer s.sending.Unlock()
	_ = s.conn.Write(&Message{Kind: k}) // a service that is gone cancels
}

// done sends the result. A receipt that is too long for a message loses its
// lists, which a command can fill.
func (s *supervisor) done(res *ambit.Result, runErr error) error {
	r := &Result{ExitCode: res.ExitCode, Code: ambit.CodeOf(runErr), Receipt: res.Receipt}
	if runErr != nil {
		r.Error = res.Redactor.Redact(runErr.Error())
	}
	s.sending.Lock()
	defer s.sending.Unlock()
	err := s.conn.Write(&Message{Kind: Done, Result: r})
	if errors.Is(err, errTooLong) {
		r.Receipt.DenialsDropped += denial.Total(r.Receipt.Denials)
		r.Receipt.Denials, r.Receipt.Paths, r.Receipt.Coverage = nil, nil, nil
		err = s.conn.Write(&Message{Kind: Done, Result: r})
	}
	return err
}
