// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package landlock

import (
	"errors"
	"os"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
)

// Confine implements [backend.Backend]: Landlock is Linux's.
func (Backend) Confine(*plan.Plan, *probe.Facts, []*os.File) (*backend.Confinement, error) {
	return nil, errors.New("cannot use Landlock: this system is not Linux")
}
