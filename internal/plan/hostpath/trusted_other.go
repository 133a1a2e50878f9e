//go:build !linux

// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"os"

	"github.com/ambit-sandbox/ambit/internal/plan"
)

// Modes says what the policy of the run grants at a canonical path.
type Modes func(name string) plan.Mode

// Nothing is the mode of everything where no policy is known.
func Nothing(string) plan.Mode { return plan.None }

var errUnsupported = errors.New("cannot tell what leads there: this system is not supported")

// OpenRead always fails.
func (*Resolver) OpenRead(string, int, Modes) (*os.File, error) { return nil, errUnsupported }

// Create always fails.
func (*Resolver) Create(string, uint32, Modes) (*os.File, error) { return nil, errUnsupported }
