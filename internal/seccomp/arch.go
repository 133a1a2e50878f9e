// SPDX-License-Identifier: Apache-2.0

package seccomp

import "fmt"

// call indexes the table of system calls.
type call uint16

// callInfo is one row of the generated table.
type callInfo struct {
	name string
	nr   [numArches]int16
}

// arch is a column of the generated table.
type arch uint8

const (
	amd64 arch = iota
	arm64
	numArches
)

// auditArch is the value that the kernel puts into seccomp_data.arch: the ELF
// machine, with the bits for 64-bit and little-endian (linux/audit.h).
var auditArch = [numArches]uint32{
	amd64: 62 | 0x80000000 | 0x40000000,
	arm64: 183 | 0x80000000 | 0x40000000,
}

// ArchError says that there is no filter for an architecture.
type ArchError struct {
	// Arch is the name that was asked for, as in runtime.GOARCH.
	Arch string
}

func (e *ArchError) Error() string {
	return fmt.Sprintf("cannot build a system call filter for architecture %q: only amd64 and arm64 are supported", e.Arch)
}

// parseArch finds the column for a value of runtime.GOARCH.
func parseArch(name string) (arch, error) {
	switch name {
	case "amd64":
		return amd64, nil
	case "arm64":
		return arm64, nil
	}
	return 0, &ArchError{Arch: name}
}

// Newest is the highest call number in the table. It is the same on every
// supported architecture: from 424 on, Linux 5.1, they number calls alike
// (include/uapi/asm-generic/unistd.h). Numbers above it answer ENOSYS.
func Newest() (name string, nr uint32) {
	for i := range calls {
		if n := calls[i].nr[amd64]; n >= 0 && uint32(n) > nr {
			name, nr = calls[i].name, uint32(n)
		}
	}
	return name, nr
}

// Number finds a call's number. ok is false where the architecture is not
// supported or lacks the call.
func Number(archName, name string) (nr uint32, ok bool) {
	a, err := parseArch(archName)
	if err != nil {
		return 0, false
	}
	for i := range calls {
		if calls[i].name == name && calls[i].nr[a] >= 0 {
			return uint32(calls[i].nr[a]), true
		}
	}
	return 0, false
}

// Name finds the name of a call's number. ok is false where the architecture
// is not supported, or the table has no call of that number.
func Name(archName string, nr uint32) (name string, ok bool) {
	a, err := parseArch(archName)
	if err != nil {
		return "", false
	}
	for i := range calls {
		if n := calls[i].nr[a]; n >= 0 && uint32(n) == nr {
			return calls[i].name, true
		}
	}
	return "", false
}
