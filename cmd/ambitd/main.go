// SPDX-License-Identifier: Apache-2.0

// Command ambitd is the service that runs commands within a policy.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/mcpserver"
	"github.com/ambit-sandbox/ambit/internal/runner"
	"github.com/ambit-sandbox/ambit/internal/sdnotify"
	"github.com/ambit-sandbox/ambit/internal/server"
)

const usage = `ambitd serves the execution of commands within a policy, over HTTP and as
tools of the Model Context Protocol.

Usage:
  ambitd serve --config FILE [--allow-root]   serve until SIGTERM or SIGINT
  ambitd mcp --config FILE [--allow-root]     serve the agent that started it, over stdin and stdout
  ambitd check --config FILE                  check the configuration and this host
  ambitd ready --config FILE [--within 30s]   ask the running service whether it takes commands
  ambitd version                              print the version
  ambit run --server ADDRESS ...              have a service run a command

Examples:
  ambitd check --config ~/.config/ambit/ambitd.json
  ambitd serve --config ~/.config/ambit/ambitd.json
  claude mcp add ambit -- ambitd mcp --config ~/.config/ambit/ambitd.json
  curl --unix-socket $XDG_RUNTIME_DIR/ambit/ambitd.sock http://localhost/health
`

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	switch args[0] {
	case "serve", "check", "mcp", "ready":
		return withConfig(args[0], args[1:])
	case "run":
		return runRemote(args[1:])
	case "version", "--version":
		fmt.Println("ambitd", version())
		return 0
	case "help", "-h", "-help", "--help":
		fmt.Print(usage)
		return 0
	}
	return misuse(fmt.Sprintf("unknown command %q", args[0]))
}

func misuse(problem string) int {
	fmt.Fprintf(os.Stderr, "ambitd: %s\n\n%s", problem, usage)
	return 2
}

func complain(err error) int {
	fmt.Fprintf(os.Stderr, "ambitd: %v\n", err)
	return 1
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func withConfig(verb string, args []string) int {
	fs := flag.NewFlagSet(verb, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	file := fs.String("config", "", "read the configuration from `FILE`")
	allowRoot := fs.Bool("allow-root", false, "serve as root all the same")
	within := fs.Duration("within", 0, "go on asking for `DURATION`")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return 0
	case err != nil:
		return misuse(err.Error())
	case fs.NArg() > 0:
		return misuse(fmt.Sprintf("unexpected argument %q", fs.Arg(0)))
	case *file == "":
		return misuse("--config FILE is missing")
	}
	c, err := server.LoadConfig(*file, useOf(verb))
	if err != nil {
		return complain(err)
	}
	switch verb {
	case "check":
		return check(*file, c)
	case "ready":
		return ready(c, *within)
	}
	if os.Getuid() == 0 && !*allowRoot {
		return complain(errors.New("cannot serve as root: what a command may write would be root's; start it as an ordinary user, or give --allow-root"))
	}
	if verb == "mcp" {
		return serveMCP(c)
	}
	return serve(c)
}

// newRunner makes what runs the commands.
func newRunner(c *server.Config) (*runner.Runner, error) {
	r, err := runner.New(runner.Config{Supervisor: c.Supervisor, Pool: c.Pool, Cgroup: c.Cgroup})
	if err != nil {
		return nil, fmt.Errorf("%w: %w; the ambit of the same release has its place beside ambitd, or set supervisor in the configuration", ambit.ErrUnavailable, err)
	}
	return r, nil
}

// check says whether a service with this configuration would work here.
func check(file string, c *server.Config) int {
	r, err := newRunner(c)
	if err != nil {
		return complain(err)
	}
	defer func() { _ = r.Close() }()
	dir, err := os.MkdirTemp("", "ambitd-check")
	if err != nil {
		return complain(fmt.Errorf("cannot try a command: %w", err))
	}
	defer func() { _ = os.RemoveAll(dir) }()
	h, err := server.Try(context.Background(), c, r, dir)
	if err != nil {
		return complain(fmt.Errorf("%w: %w", ambit.ErrUnavailable, err))
	}
	if !h.Works {
		return complain(fmt.Errorf("%w: %s", ambit.ErrUnavailable, h.Reason))
	}
	fmt.Printf("ok: %s; sandbox: %s\n", file, h.Backend)
	return 0
}

func serve(c *server.Config) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	to, err := sdnotify.Open()
	if err != nil {
		return complain(err)
	}
	r, err := newRunner(c)
	if err != nil {
		return complain(err)
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	s, err := server.New(ctx, c, r, log)
	if err != nil {
		_ = r.Close()
		return complain(err)
	}
	mcpserver.Mount(s, version())
	if to.Asked() {
		s.Listening = func(at net.Addr) {
			w := &watchdog{to: to, own: ownListener(c, at.Network(), at.String()), log: log}
			context.AfterFunc(ctx, w.stopping)
			go w.run(ctx)
		}
	}
	if err := s.Serve(ctx); err != nil {
		return complain(err)
	}
	return 0
}
