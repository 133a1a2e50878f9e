// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-sandbox/ambit/internal/server"
)

// stopTime bounds the wait for a client that takes no answer any more.
const stopTime = 10 * time.Second

// frameSlack is what a message is longer than the request in it.
const frameSlack = 64 << 10

// ServeStreams serves one client that writes to in and reads from out, until in
// or ctx ends. Then it ends the running trees, and closes the service.
func ServeStreams(ctx context.Context, s *server.Server, version string, in io.ReadCloser, out io.WriteCloser) error {
	m := newServer(s, version, "stdio:"+strconv.Itoa(os.Getuid()))
	source := &watched{ReadCloser: in, ended: make(chan struct{})}
	running, stop := context.WithCancel(context.Background())
	defer stop()
	over := make(chan error, 1)
	go func() {
		over <- m.mcp.Run(running, &mcp.IOTransport{Reader: source, Writer: out, MaxLineLength: int(s.MaxRequestBytes()) + frameSlack})
	}()
	var err error
	done := false
	select {
	case err = <-over:
		done = true
	case <-source.ended:
	case <-ctx.Done():
	}
	closed := s.Close()
	stop()
	if !done {
		select {
		case err = <-over:
		case <-time.After(stopTime):
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, closed)
}

// watched tells when there is no more to read.
type watched struct {
	io.ReadCloser
	once  sync.Once
	ended chan struct{}
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	if err != nil {
		w.once.Do(func() { close(w.ended) })
	}
	return n, err
}
