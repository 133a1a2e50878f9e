// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

const yamaFile = "/proc/sys/kernel/yama/ptrace_scope"

// ptrace fills in whether a supervisor may read its descendants' memory.
func (h host) ptrace(f *Facts) {
	scope, err := h.ptraceScope()
	f.PtraceScope = scope
	f.ReadMemory = Result{Feature: featureIn(quickFeatures, FeatReadMemory), Err: err}
	f.ReadMemory.Verdict, f.ReadMemory.Detail = h.readMemory(scope)
}

// ptraceScope reads Yama's mode. A missing file means a kernel without Yama,
// but only where /proc is there at all.
func (h host) ptraceScope() (PtraceScope, error) {
	text, err := h.readFile(yamaFile)
	if errors.Is(err, fs.ErrNotExist) {
		if err := h.exists("/proc/sys/kernel"); err != nil {
			return PtraceScopeUnknown, err
		}
		return PtraceScopeAbsent, nil
	}
	if err != nil {
		return PtraceScopeUnknown, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 {
		return PtraceScopeUnknown, syscall.EINVAL
	}
	return PtraceScope(n), nil
}

// readMemory says what Yama's mode means for a supervisor and its
// descendants (Documentation/admin-guide/LSM/Yama.rst).
func (h host) readMemory(scope PtraceScope) (Verdict, string) {
	switch scope {
	case PtraceScopeAbsent:
		return Yes, "the kernel runs without Yama"
	case PtraceScopeClassic, PtraceScopeChild:
		return Yes, "yama ptrace_scope " + strconv.Itoa(int(scope))
	case PtraceScopeAdmin:
		caps, err := h.effectiveCaps()
		if err == nil && caps>>sys.CapSysPtrace&1 == 1 {
			return Yes, "yama ptrace_scope 2, and this process has CAP_SYS_PTRACE"
		}
		return No, "yama ptrace_scope 2 asks for CAP_SYS_PTRACE"
	case PtraceScopeNone:
		return No, "yama ptrace_scope 3 forbids it to everybody"
	}
	return Unknown, "cannot read yama's ptrace_scope"
}
