// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/mcpserver"
	"github.com/ambit-sandbox/ambit/internal/server"
)

// useOf is what a command needs its configuration for.
func useOf(verb string) server.Use {
	if verb == "mcp" {
		return server.Beside
	}
	return server.Service
}

// serveMCP serves one agent, which started this process, over its standard
// streams. Nothing but the protocol is written to stdout.
func serveMCP(c *server.Config) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A write to an agent that is gone is an error that ends the runs. Without
	// a handler the signal would end this process first (os/signal). It is not
	// ignored, as commands would inherit that.
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	if c.Pool == 0 {
		c.Pool = 1 // one agent rarely runs more at once
	}
	r, err := newRunner(c)
	if err != nil {
		return complain(err)
	}
	s, err := server.New(ctx, c, r, slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	if err != nil {
		_ = r.Close()
		return complain(err)
	}
	if err := mcpserver.ServeStreams(ctx, s, version(), os.Stdin, os.Stdout); err != nil {
		return complain(err)
	}
	return 0
}
