// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package secctx

import (
	"errors"
	"fmt"
)

var errOther = fmt.Errorf("cannot gather a security context on this system, only on Linux: %w", errors.ErrUnsupported)

// Gather needs Linux.
func Gather(int, []string) (*Context, error) { return nil, errOther }

// GatherStarted needs Linux.
func GatherStarted([]string, []string) (*Context, error) { return nil, errOther }
