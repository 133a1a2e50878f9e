// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ambit-sandbox/ambit/internal/cgroup"
)

// Runner has a supervisor for each command. Its methods may be called at the
// same time.
type Runner struct {
	config  Config
	program *program
	groups  *cgroup.Parent // nil: none
	limits  string
	warm    chan *process
	// missing has an entry for each supervisor that the pool lacks.
	missing chan struct{}

	ctx     context.Context // ends with Close
	close   context.CancelFunc
	filling sync.WaitGroup
}

// New makes a runner and starts to fill its pool. The error is of the
// supervisor: it can't be started, or is not of this build. A process has one
// runner at a time, as it becomes the one that processes of dead runs fall to.
func New(c Config) (*Runner, error) {
	c.defaults()
	name, err := c.supervisor()
	if err != nil {
		return nil, err
	}
	r := &Runner{config: c, warm: make(chan *process, c.Pool+1), missing: make(chan struct{}, c.Pool+1)}
	own, err := adopt()
	if err != nil {
		return nil, err
	}
	if r.program, err = openProgram(name, c.build, own); err != nil {
		return nil, err
	}
	if err := r.openGroups(); err != nil {
		r.program.close()
		return nil, err
	}
	r.ctx, r.close = context.WithCancel(context.Background())
	first, err := r.program.start(r.ctx)
	if err != nil {
		r.close()
		r.program.close()
		r.groups.Close()
		return nil, err
	}
	r.warm <- first
	for range c.Pool - 1 {
		r.missing <- struct{}{}
	}
	r.filling.Add(1)
	go r.fill()
	return r, nil
}

// openGroups gets the control groups that runs shall have.
func (r *Runner) openGroups() (err error) {
	if r.config.Cgroup == "" || r.config.Cgroup == Off {
		r.limits = "resource limits: control groups are off"
		return nil
	}
	where, auto := strings.CutPrefix(r.config.Cgroup, Auto)
	where = strings.TrimPrefix(where, ":")
	if r.groups, err = cgroup.New(where); err != nil {
		r.limits = "resource limits: " + err.Error()
		if auto {
			return nil
		}
		return err
	}
	switch lacks := r.groups.Lacks(); {
	case lacks == nil:
		r.limits = "control groups"
	case !auto:
		r.groups.Close()
		return fmt.Errorf("cannot use the control group %s: %w", where, lacks)
	default:
		r.limits = "resource limits, and control groups to end runs only: " + lacks.Error()
	}
	return nil
}

// Limits says by what memory and processes are bounded, and why.
func (r *Runner) Limits() string { return r.limits }

func (c *Config) supervisor() (string, error) {
	if c.Supervisor != "" {
		return c.Supervisor, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the supervisor: %w", err)
	}
	return filepath.Join(filepath.Dir(exe), "ambit"), nil
}

// Pauses after a supervisor that could not be started.
const (
	shortPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// fill starts a supervisor for each that is missing. One that can't be started
// is tried again; who needs it meanwhile tries himself, and gets the error.
func (r *Runner) fill() {
	defer r.filling.Done()
	pause := shortPause
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.missing:
		}
		p, err := r.program.start(r.ctx)
		if err == nil {
			pause = shortPause
			r.warm <- p // there is room: it was missing
			continue
		}
		r.missing <- struct{}{}
		select {
		case <-r.ctx.Done():
			return
		case <-time.After(pause):
			pause = min(2*pause, longPause)
		}
	}
}

var errClosed = errors.New("cannot run anything: the runner is closed")

// take returns a supervisor that waits, or starts one.
func (r *Runner) take(ctx context.Context) (*process, error) {
	for {
		if r.ctx.Err() != nil {
			return nil, errClosed
		}
		select {
		case p := <-r.warm:
			if r.config.Pool > 0 {
				r.missing <- struct{}{} // there is room: it holds at most what was taken
			}
			if p.alive() {
				return p, nil
			}
			p.close()
		default:
			return r.program.start(ctx)
		}
	}
}

// Close ends the supervisors that wait. No run may be under way.
func (r *Runner) Close() error {
	r.close()
	r.filling.Wait()
	for {
		select {
		case p := <-r.warm:
			p.close()
		default:
			r.program.close()
			r.groups.Close()
			return nil
		}
	}
}
