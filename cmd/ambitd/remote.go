// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/client"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/policy"
)

const remoteUsage = `Runs a command by a service, in one of its projects and within its policy.
Output comes while the command runs; the exit code is the command's own, or 125
if nothing ran. Interrupting it ends the command.

Usage:
  ambit run --server ADDRESS --project NAME [flags] -- COMMAND [ARG...]

Flags:
`

const remoteExamples = `
Examples:
  ambit run --server $XDG_RUNTIME_DIR/ambit/ambitd.sock --project shop -- make test
  ambit run --server https://build.example:8740 --token-file ~/.token --project shop --json -- make
`

// remote is a command for a service.
type remote struct {
	set                                    *flag.FlagSet
	server, tokenFile, policyFile, receipt string
	asJSON, stdin                          bool
	timeout                                time.Duration
	q                                      client.Request
}

func remoteFlags() *remote {
	r := &remote{set: flag.NewFlagSet("run", flag.ContinueOnError)}
	r.set.SetOutput(io.Discard)
	r.q.Env = map[string]string{}
	r.set.StringVar(&r.server, "server", "", "the service's `ADDRESS`: the path of its socket, or a URL")
	r.set.StringVar(&r.tokenFile, "token-file", "", "read the bearer token from `FILE`")
	r.set.StringVar(&r.q.Project, "project", "", "`NAME` of the project")
	r.set.StringVar(&r.policyFile, "policy", "", "narrow the service's policy by the one in `FILE`")
	r.set.DurationVar(&r.timeout, "timeout", 0, "end the command after `DURATION` (90s, 10m)")
	r.set.BoolVar(&r.q.Serialize, "serialize", false, "wait for other such runs of the project")
	r.set.BoolVar(&r.stdin, "stdin", false, "send what is on stdin, to its end, before the command starts")
	r.set.BoolVar(&r.asJSON, "json", false, "print the service's answer, one JSON object, in the end")
	r.set.StringVar(&r.receipt, "receipt", "", "write the receipt to `FILE`")
	r.set.Func("env", "set the variable `NAME=VALUE` (repeatable)", func(v string) error {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return errors.New("it must be NAME=VALUE")
		}
		r.q.Env[name] = value
		return nil
	})
	r.set.Func("secret", "give the command the service's secret `NAME` (repeatable)", func(v string) error {
		if strings.Contains(v, "=") {
			return errors.New("a service has its own sources; give the name alone")
		}
		r.q.Secrets = append(r.q.Secrets, v)
		return nil
	})
	return r
}

func runRemote(args []string) int {
	r := remoteFlags()
	switch err := r.set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(remoteUsage)
		r.set.SetOutput(os.Stdout)
		r.set.PrintDefaults()
		fmt.Print(remoteExamples)
		return 0
	case err != nil:
		return noRun(fmt.Errorf("%w; ambitd run --help lists the flags that a service takes", err))
	case r.server == "" || r.q.Project == "":
		return noRun(errors.New("--server ADDRESS and --project NAME are needed"))
	case r.set.NArg() == 0:
		return noRun(errors.New("no command given; it stands behind --"))
	}
	c, err := r.complete()
	if err != nil {
		return noRun(err)
	}
	return r.send(c)
}

func noRun(err error) int {
	fmt.Fprintf(os.Stderr, "ambit: %v\n", err)
	return ambit.ExitUnavailable
}

// complete reads the files that the flags name.
func (r *remote) complete() (*client.Client, error) {
	r.q.Argv, r.q.Timeout = r.set.Args(), policy.Duration(r.timeout)
	names := hostpath.Here(os.Getenv)
	if r.policyFile != "" {
		if err := names.CheckOwn(r.policyFile); err != nil {
			return nil, err
		}
		l, err := policy.ReadFile(r.policyFile)
		if err != nil {
			return nil, err
		}
		r.q.FolderGuard = &l.Policy
	}
	if r.stdin {
		b, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, fmt.Errorf("cannot read stdin: %w", err)
		}
		r.q.Stdin = b
	}
	token := ""
	if r.tokenFile != "" {
		err := names.CheckOwn(r.tokenFile)
		var b []byte
		if err == nil {
			b, err = os.ReadFile(r.tokenFile)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the token: %w", err)
		}
		token = strings.TrimSpace(string(b))
	}
	if strings.HasPrefix(r.server, "http://") || strings.HasPrefix(r.server, "https://") {
		return client.URL(r.server, token), nil
	}
	return client.Unix(r.server), nil
}

func (r *remote) send(c *client.Client) int {
	stdout, stderr := io.Writer(os.Stdout), io.Writer(os.Stderr)
	if r.asJSON {
		stdout, stderr = nil, nil
	}
	res, err := c.Stream(context.Background(), &r.q, stdout, stderr)
	if err != nil {
		var e *client.Error
		if r.asJSON && errors.As(err, &e) {
			printJSON(os.Stdout, e)
			return ambit.ExitUnavailable
		}
		if errors.Is(err, client.ErrCutOff) {
			fmt.Fprintf(os.Stderr, "ambit: %v; the command was ended with it\n", err)
			return 128 + int(syscall.SIGKILL)
		}
		return noRun(err)
	}
	if r.asJSON {
		if _, err := os.Stdout.Write(append(res.Raw, '\n')); err != nil {
			return noRun(fmt.Errorf("cannot print the answer: %w", err))
		}
	}
	return r.report(res)
}

// writeFile writes a file by a name that no command could have led elsewhere.
func writeFile(name string, content []byte) error {
	f, err := hostpath.Here(os.Getenv).Create(name, 0o600, hostpath.Nothing)
	if err != nil {
		return err
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.Write(content)
	}
	return errors.Join(err, f.Close())
}

// report says what the command itself could not.
func (r *remote) report(res *client.Result) int {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "ambit: "+format+"\n", args...) }
	if r.receipt != "" {
		b, err := json.MarshalIndent(res.Receipt, "", "  ")
		if err == nil {
			err = writeFile(r.receipt, append(b, '\n'))
		}
		if err != nil {
			say("cannot write the receipt: %v", err)
		}
	}
	if r.asJSON {
		return res.ExitCode
	}
	if res.Error != "" {
		say("%s", res.Error)
	}
	if res.NetworkDenied != "" {
		say("%s; allow_network opens it, where the service allows it", res.NetworkDenied)
	}
	for i := range res.Inferred {
		say("%s", res.Inferred[i].String())
	}
	if res.TimedOut {
		say("the time limit ended the command")
	}
	if res.StdoutTruncated || res.StderrTruncated {
		say("the service keeps a part of the output only: it was %d bytes on stdout and %d on stderr", res.StdoutBytes, res.StderrBytes)
	}
	return res.ExitCode
}

func printJSON(w io.Writer, v any) {
	b, err := json.Marshal(v)
	if err == nil {
		_, _ = w.Write(append(b, '\n'))
	}
}
