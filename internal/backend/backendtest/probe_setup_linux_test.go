// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// setupOperations make a machine that lacks something, for the program that
// they then become: ambit.
func setupOperations() map[string]operation {
	return map[string]operation{
		"refuse":       refuseCalls,
		"limit":        limitSelf,
		"listen-to":    listenTo,
		"without-proc": withoutProc,
	}
}

// become is execve(2), with this process's environment.
func become(argv []string) (string, error) {
	return "execve", syscall.Exec(argv[0], argv, os.Environ())
}

// refuseCalls CALL,... ERRNO PROGRAM ARG...: a seccomp filter in which the
// calls fail, as container runtimes have them.
func refuseCalls(a []string) (string, error) {
	errno, err := strconv.Atoi(a[1])
	if err != nil {
		return "", err
	}
	if err := addFilter(strings.Split(a[0], ","), syscall.Errno(errno)); err != nil {
		return "filter", err
	}
	return become(a[2:])
}

// addFilter puts a seccomp filter on this thread in which the calls fail.
func addFilter(calls []string, errno syscall.Errno) error {
	const load, jumpIfEqual, ret = 0x20, 0x15, 0x06 // linux/bpf_common.h, linux/filter.h
	const retErrno, retAllow = 0x00050000, 0x7fff0000
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	program := []instruction{{load, 0, 0, 0}} // seccomp_data.nr
	for _, name := range calls {
		nr, ok := numbers[name]
		if !ok {
			return fmt.Errorf("unknown call %s", name)
		}
		program = append(program, instruction{jumpIfEqual, 0, 1, uint32(nr)}, instruction{ret, 0, 0, retErrno | uint32(errno)})
	}
	program = append(program, instruction{ret, 0, 0, retAllow})
	var b []byte
	for _, i := range program {
		b = binary.LittleEndian.AppendUint16(b, i.code)
		b = append(b, i.jt, i.jf)
		b = binary.LittleEndian.AppendUint32(b, i.k)
	}
	prog := struct {
		n      uint16
		filter *byte
	}{uint16(len(program)), &b[0]}
	const prSetNoNewPrivs, prSetSeccomp, modeFilter = 38, 22, 2 // linux/prctl.h
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	// Not seccomp(2), which may be among the calls of an outer filter.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetSeccomp, modeFilter, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}

// listenTo CALL PROGRAM ARG...: a filter with a listener for one call, which
// nobody serves, as a container's supervisor has one.
func listenTo(a []string) (string, error) {
	nr, ok := numbers[a[0]]
	if !ok {
		return "", fmt.Errorf("unknown call %s", a[0])
	}
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	const load, jumpIfEqual, ret = 0x20, 0x15, 0x06
	const retNotify, retAllow = 0x7fc00000, 0x7fff0000
	program := []instruction{{load, 0, 0, 0}, {jumpIfEqual, 0, 1, uint32(nr)}, {ret, 0, 0, retNotify}, {ret, 0, 0, retAllow}}
	prog := struct {
		n      uint16
		filter *instruction
	}{uint16(len(program)), &program[0]}
	const prSetNoNewPrivs, modeFilter, newListener = 38, 1, 1 << 3 // linux/prctl.h, linux/seccomp.h
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return "no_new_privs", errno
	}
	fd, _, errno := syscall.RawSyscall(numbers["seccomp"], modeFilter, newListener, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return "seccomp", errno
	}
	// It counts for as long as it is open.
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, fd, syscall.F_SETFD, 0); errno != 0 {
		return "fcntl", errno
	}
	return become(a[1:])
}

// limitSelf RESOURCE VALUE PROGRAM ARG...: both limits, so that nobody raises
// the soft one again.
func limitSelf(a []string) (string, error) {
	resource, err := strconv.Atoi(a[0])
	if err != nil {
		return "", err
	}
	value, err := strconv.ParseUint(a[1], 0, 64)
	if err != nil {
		return "", err
	}
	// Not by package syscall, which would make Go give children the old
	// limit of open files back.
	limit := [2]uint64{value, value}
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, uintptr(resource), uintptr(unsafe.Pointer(&limit)), 0, 0, 0); errno != 0 {
		return "prlimit64", errno
	}
	_, _, errno := rawExec(a[2:])
	return "execve", errno
}

func rawExec(argv []string) (uintptr, uintptr, syscall.Errno) {
	path, _ := syscall.BytePtrFromString(argv[0])
	args, _ := syscall.SlicePtrFromStrings(argv)
	env, _ := syscall.SlicePtrFromStrings(os.Environ())
	return syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&env[0])))
}

// withoutProc PROGRAM ARG...: cover /proc, in the mount namespace that this
// process was started in, and go on.
func withoutProc(a []string) (string, error) {
	const private, recursive = 1 << 18, 1 << 14 // MS_PRIVATE, MS_REC
	if err := syscall.Mount("", "/", "", private|recursive, ""); err != nil {
		return "make mounts private", err
	}
	if err := syscall.Mount("none", "/proc", "tmpfs", 0, ""); err != nil {
		return "mount", err
	}
	// The capability for this is not the program's (PR_CAP_AMBIENT_CLEAR_ALL).
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, 47, 4, 0, 0, 0, 0); errno != 0 {
		return "prctl", errno
	}
	return become(a)
}
