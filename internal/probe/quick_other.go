// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package probe

import (
	"errors"
	"fmt"
	"runtime"
)

// Quick fails: there is no Landlock and no seccomp to ask for here.
func Quick() (*Facts, error) {
	return nil, fmt.Errorf("cannot probe %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
