// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Quick returns the facts that a run needs. It makes about ten system calls
// that change nothing, which takes some microseconds, and remembers nothing.
//
// What could not be found out is a fact with the verdict Unknown, not an
// error: an error means that this is not a system that can be asked at all.
func Quick() (*Facts, error) { return thisHost().quick() }

// thisHost asks the running kernel.
func thisHost() host {
	return host{
		release:        sys.KernelRelease,
		landlockABI:    sys.LandlockABI,
		landlockErrata: sys.LandlockErrata,
		filterFlags:    sys.SeccompTryFlags,
		notifSizes:     kernelNotifSizes,
		effectiveCaps:  sys.EffectiveCaps,
		readFile:       sys.ReadSmallFile,
		exists:         exists,
		activeLSMs:     sys.ActiveLSMs,
		readWhole:      readWhole,
		makeGroup:      makeAndRemove,
	}
}

func (h host) quick() (*Facts, error) {
	release, err := h.release()
	if err != nil {
		return nil, fmt.Errorf("cannot identify the kernel: %w", err)
	}
	f := &Facts{Kernel: release}
	h.landlock(f)
	h.seccomp(f)
	h.ptrace(f)
	return f, nil
}

func kernelNotifSizes() (NotifSizes, error) {
	s, err := sys.SeccompNotifSizes()
	return NotifSizes{int(s.Notif), int(s.Resp), int(s.Data)}, err
}

func exists(path string) error { return syscall.Access(path, 0) }

func readWhole(path string) (string, error) {
	b, err := os.ReadFile(path)
	return string(b), err
}
