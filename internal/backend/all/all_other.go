// SPDX-License-Identifier: Apache-2.0

//go:build !linux

// Package all lists the backends of each operating system.
package all

import "github.com/ambit-sandbox/ambit/internal/backend"

// Backends lists this system's backends: none yet, so every run ends in
// SANDBOX_UNAVAILABLE.
func Backends() []backend.Backend { return nil }
