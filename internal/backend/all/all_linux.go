// SPDX-License-Identifier: Apache-2.0

// Package all lists the backends of each operating system.
package all

import (
	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/backend/landlock"
)

// Backends lists this system's backends, strongest first.
func Backends() []backend.Backend { return []backend.Backend{landlock.Backend{}} }
