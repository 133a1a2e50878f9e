// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/runner"
	"github.com/ambit-sandbox/ambit/policy"
)

// tryTime bounds a command that does nothing.
const tryTime = 30 * time.Second

// Try looks whether commands can be run here as the configuration wants them:
// what the host can do, and then a command that does nothing, by the server's
// own policy and in the folder dir. The policy may need what the look at
// the host does not see, such as a place for temporary files.
func Try(ctx context.Context, c *Config, e Engine, dir string) (*ambit.Host, error) {
	h, err := e.Probe(ctx)
	if err != nil || !h.Works {
		return h, err
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	res, err := e.Run(ctx, &runner.Request{
		Argv: []string{"/bin/sh", "-c", ":"}, Dir: dir, Environ: os.Environ(),
		Layers: []policy.Layer{{Name: "server", Policy: *c.Policy},
			// Not to be written, so that it is no place which commands could write.
			{Name: "the trial", Policy: policy.Policy{BlockedWritePaths: []string{policy.Literal(dir)}}}},
	})
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("cannot try a command: %w", ctx.Err())
	case res.Code != "" || err != nil:
		h.Works, h.Reason = false, strings.TrimPrefix(res.Error, string(ambit.CodeUnavailable)+": ")
	}
	return h, nil
}

// look tries a command in a folder that the service surely has.
func (s *Server) look(ctx context.Context) (*ambit.Host, error) {
	return Try(ctx, s.config, s.engine, s.config.Journal)
}

// doubt has health look again beside what goes on. It counts as a run, so that
// the engine is not closed meanwhile.
func (s *Server) doubt() {
	if !s.begin() {
		return
	}
	go func() {
		defer s.runs.Done()
		s.health.doubt(s.running)
	}()
}
