// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// noopArg makes this binary the command that [Probe] runs in a sandbox.
const noopArg = "__noop"

// noop looks at its own confinement and returns what is missing of it. It is
// a proof by attempt: it tries what every policy that Probe gives it forbids.
func noop() error {
	if nnp, err := sys.NoNewPrivs(); err != nil || !nnp {
		return fmt.Errorf("no_new_privs is not set: %v", err)
	}
	if fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0); !errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("a network socket was not refused (descriptor %d): %v", fd, err)
	}
	if _, err := os.ReadDir("/"); !errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("listing / was not refused: %v", err)
	}
	f, err := os.CreateTemp("", "")
	if err != nil {
		return fmt.Errorf("the private temporary folder can't be written: %w", err)
	}
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("a file's mode can't be changed in the private temporary folder: %w", err)
	}
	return nil
}

// runNoop is the no-op as a process.
func runNoop() int {
	if err := noop(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
