// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/policy"
)

// policyFlags collects the layers that the command line names: the files of
// --policy in their order, and above them one layer for each kind of flag, so
// that reports can say which flag a rule came from.
type policyFlags struct {
	set    *flag.FlagSet
	files  []string
	layers map[string]*policy.Policy
	order  []string
	cwd    string
	err    error
}

// newFlags makes a flag set that reports errors instead of printing them.
func newFlags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

// addPolicyFlags defines a flag for each field of a policy.
func addPolicyFlags(fs *flag.FlagSet) *policyFlags {
	p := &policyFlags{set: fs, layers: map[string]*policy.Policy{}}
	if p.cwd, p.err = syscall.Getwd(); p.err != nil {
		p.err = fmt.Errorf("cannot find the current folder, it may have been removed; change to another one: %w", p.err)
	}
	fs.Func("policy", "`FILE` with a policy (repeatable; later files win)", p.addFile)
	p.text("extends", "built-in policy to start from: `NAME` workspace, system or none", func(l *policy.Policy, v string) { l.Extends = v })
	p.path("read", "`PATH` may be read and executed", func(l *policy.Policy, v string) { l.ReadPaths = append(l.ReadPaths, v) })
	p.path("write", "`PATH` may be read, executed and written", func(l *policy.Policy, v string) { l.WritePaths = append(l.WritePaths, v) })
	p.blockPath("block", "`PATH`, which may be a pattern (\"**/.env\"), may not be read or written, wherever it is nested", func(l *policy.Policy, v string) { l.BlockedPaths = append(l.BlockedPaths, v) })
	p.blockPath("block-write", "`PATH`, which may be a pattern, may not be written, wherever it is nested", func(l *policy.Policy, v string) { l.BlockedWritePaths = append(l.BlockedWritePaths, v) })
	p.path("work-dir", "run in `DIR` (default: the current folder)", func(l *policy.Policy, v string) { l.WorkDir = v })
	p.toggle("allow-network", "open the network", func(l *policy.Policy, v bool) { l.AllowNetwork = &v })
	p.toggle("private-tmp", "make a temporary folder for the run, and remove it afterwards", func(l *policy.Policy, v bool) { l.PrivateTmp = &v })
	p.toggle("strict", "a listed path that is missing is an error", func(l *policy.Policy, v bool) { l.Strict = &v })
	p.text("unprotect", "lift the protection `NAME` of the workspace: agent, ambit, editor, git-config, git-hooks, git-worktrees or all", func(l *policy.Policy, v string) { l.Unprotect = append(l.Unprotect, v) })
	p.text("accept", "let the coverage `ITEM` be missing on a host that can't enforce it", func(l *policy.Policy, v string) { l.Accept = append(l.Accept, v) })
	fs.Func("env", "let the variable `NAME[=VALUE]` pass, or set it (repeatable)", func(v string) error { return p.addEnv(v) })
	fs.Func("secret", "secret variable `NAME[=SOURCE]`: file:PATH, fd:N or env:NAME", func(v string) error {
		// Not returned: package flag would repeat the whole argument.
		if err := p.addSecret(v); err != nil && p.err == nil {
			p.err = err
		}
		return nil
	})
	p.addLimits()
	return p
}

func (p *policyFlags) addLimits() {
	limits := func(l *policy.Policy) *policy.Limits {
		if l.Limits == nil {
			l.Limits = &policy.Limits{}
		}
		return l.Limits
	}
	p.set.Func("timeout", "end the command after `DURATION` (90s, 10m)", func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return errors.New("it must be a duration such as 90s or 10m")
		}
		t := policy.Duration(d)
		limits(p.layer("--timeout")).Timeout = &t
		return nil
	})
	for _, l := range []struct {
		name, usage string
		field       func(*policy.Limits) **int64
	}{
		{"output-limit", "keep `BYTES` of stdout and of stderr, discard and count the rest", func(l *policy.Limits) **int64 { return &l.OutputBytes }},
		{"memory", "limit memory to `BYTES` (512M, 2G)", func(l *policy.Limits) **int64 { return &l.MemoryBytes }},
		{"processes", "limit processes and threads to `N`", func(l *policy.Limits) **int64 { return &l.Processes }},
		{"open-files", "limit the descriptors of each process to `N`", func(l *policy.Limits) **int64 { return &l.OpenFiles }},
		{"cpu", "limit the processor time of each process to `SECONDS`", func(l *policy.Limits) **int64 { return &l.CPUSeconds }},
		{"file-size", "limit written files to `BYTES`", func(l *policy.Limits) **int64 { return &l.FileSizeBytes }},
	} {
		p.set.Func(l.name, l.usage, func(v string) error {
			n, err := parseSize(v)
			if err == nil {
				*l.field(limits(p.layer("--" + l.name))) = &n
			}
			return err
		})
	}
}

// parseSize reads a number with an optional binary suffix.
func parseSize(s string) (int64, error) {
	digits, unit := s, int64(1)
	for suffix, u := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if d, ok := strings.CutSuffix(s, suffix); ok {
			digits, unit = d, u
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)/unit {
		return 0, errors.New("it must be a whole number above 0, with K, M or G behind it if you like")
	}
	return n * unit, nil
}

// layer returns the policy layer of a flag.
func (p *policyFlags) layer(name string) *policy.Policy {
	if p.layers[name] == nil {
		p.layers[name] = &policy.Policy{}
		p.order = append(p.order, name)
	}
	return p.layers[name]
}

func (p *policyFlags) text(name, usage string, set func(*policy.Policy, string)) {
	p.set.Func(name, usage, func(v string) error {
		if v == "" {
			return errors.New("it is empty")
		}
		set(p.layer("--"+name), v)
		return nil
	})
}

// path is a text that is relative to the current folder, or starts with a
// variable as in a file. The name stays as it is otherwise: what ".." leads to
// is the kernel's to say.
func (p *policyFlags) path(name, usage string, set func(*policy.Policy, string)) {
	p.text(name, usage, func(l *policy.Policy, v string) { set(l, p.absolute(v)) })
}

// blockPath is a path that may also be a pattern. Whether one is meant must not
// hang on what stands there: a command that makes a file called "*.pem" would
// take the block away from the next run. A pattern matches that name as well;
// it alone is written as in a file, "$*.pem".
func (p *policyFlags) blockPath(name, usage string, set func(*policy.Policy, string)) {
	p.text(name, usage, func(l *policy.Policy, v string) {
		switch {
		case !strings.ContainsAny(v, "*?"):
			v = p.absolute(v)
		case !p.isAbsolute(v):
			v = policy.Literal(p.cwd) + "/" + v
		}
		set(l, v)
	})
}

// isAbsolute reports whether a path is, or starts with a variable.
func (p *policyFlags) isAbsolute(v string) bool {
	return v == "~" || strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "${") || strings.HasPrefix(v, "/")
}

func (p *policyFlags) absolute(v string) string {
	switch {
	case strings.HasPrefix(v, "/"):
	case p.isAbsolute(v):
		return v
	default:
		v = p.cwd + "/" + v
	}
	// A "*" that names no file was meant as a pattern, which a grant can't be.
	if _, err := os.Lstat(v); err != nil && strings.ContainsAny(v, "*?") {
		return v
	}
	return policy.Literal(v)
}

func (p *policyFlags) toggle(name, usage string, set func(*policy.Policy, bool)) {
	p.set.BoolFunc(name, usage, func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return errors.New("it must be true or false")
		}
		set(p.layer("--"+name), b)
		return nil
	})
}

func (p *policyFlags) addFile(name string) error {
	p.files = append(p.files, name)
	return nil
}

func (p *policyFlags) addEnv(v string) error {
	l := p.layer("--env")
	if l.Env == nil {
		l.Env = &policy.Env{Set: map[string]string{}}
	}
	if name, value, set := strings.Cut(v, "="); set {
		l.Env.Set[name] = value
	} else {
		l.Env.Pass = append(l.Env.Pass, v)
	}
	return nil
}

// addSecret reads a source. What is behind "=" is never repeated in an error:
// somebody may have put the value itself there.
func (p *policyFlags) addSecret(v string) error {
	name, source, given := strings.Cut(v, "=")
	kind, rest, _ := strings.Cut(source, ":")
	var s policy.Secret
	switch {
	case !given:
		s.Env = name
	case kind == "env":
		s.Env = rest
	case kind == "file" && rest != "":
		s.File = rest
		if !strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "~/") {
			s.File = policy.Literal(p.cwd + "/" + rest)
		}
	case kind == "fd":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 {
			return errSecret
		}
		s.FD = &n
	default:
		return errSecret
	}
	l := p.layer("--secret")
	if l.Secrets == nil {
		l.Secrets = map[string]policy.Secret{}
	}
	l.Secrets[name] = s
	return nil
}

var errSecret = errors.New("cannot use --secret: name its source, never its value: NAME, NAME=env:OTHER, NAME=file:PATH or NAME=fd:N")

// command makes the run that the flags describe. Without a file the flags
// extend the default policy. The error is an [ambit.ErrPolicy].
func (p *policyFlags) command(a *App) (*ambit.Command, error) {
	c := &ambit.Command{Environ: a.Environ, Dir: p.cwd}
	if pwd := a.getenv("PWD"); p.err == nil && pwd != p.cwd {
		p.err = hostpath.Here(a.getenv).CheckReached(pwd, p.cwd)
	}
	if p.err != nil {
		return nil, ambit.PolicyError(p.err)
	}
	for _, name := range p.files {
		l, err := policy.ReadFile(name)
		if err != nil {
			return nil, ambit.PolicyError(err)
		}
		c.Layers = append(c.Layers, l)
	}
	if len(p.files) == 0 {
		c.Layers = []policy.Layer{{Name: "default", Policy: policy.Policy{Extends: policy.Workspace}}}
	}
	for _, name := range p.order {
		c.Layers = append(c.Layers, policy.Layer{Name: name, Policy: *p.layers[name]})
	}
	return c, nil
}

// parse parses flags and reports misuse; ok is false when the caller returns
// code.
func (a *App) parse(p *policyFlags, usage string, args []string, failed int) (code int, ok bool) {
	err := p.set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		a.flagHelp(p.set, usage)
		return exitOK, false
	case err != nil:
		return a.misuse(failed, err.Error(), "ambit "+p.set.Name()+" --help lists the flags"), false
	}
	return 0, true
}

func (a *App) flagHelp(fs *flag.FlagSet, usage string) {
	fmt.Fprintf(a.Stdout, "Usage: ambit %s\n\nFlags:\n", usage)
	fs.SetOutput(a.Stdout)
	fs.PrintDefaults()
}
