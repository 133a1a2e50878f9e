// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"runtime"

	"github.com/ambit-sandbox/ambit/internal/child"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// surrender is the last step before the command may start. It gives up, in a
// process that is there for this run alone, what the rest of the run does not
// need. The launcher is started, and nothing else will be. There is no way
// back, so it comes after everything that can still say what the policy wants.
func (r *runner) surrender() error {
	if r.cmd.Starting != nil {
		r.cmd.Starting()
	}
	if !r.cmd.Dedicated {
		return nil
	}
	filter, err := seccomp.Supervisor(runtime.GOARCH)
	if err == nil {
		err = sys.Surrender(filter.Bytes())
	}
	if err != nil {
		return &child.StepError{Step: "confine the supervisor", Err: err}
	}
	return nil
}
