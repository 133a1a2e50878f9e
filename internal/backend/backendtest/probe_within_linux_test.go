// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// withinOperations are a sandbox inside the sandbox.
func withinOperations() map[string]operation {
	return map[string]operation{
		"restrict-to": restrictTo,
		"as-orphan":   asOrphan,
		"elsewhere":   elsewhere,
	}
}

// Rights of Landlock (linux/landlock.h): what changes files up to ABI 3, all
// TCP of ABI 4, and the scope for abstract sockets of ABI 6.
const (
	changeFiles  = 1<<1 | 0x7ff0&^(1<<13) | 1<<14
	changeFile   = 1<<1 | 1<<14 // of which these also hold for what is no folder
	handledTCP   = 3
	scopedSocket = 1
)

// restrictTo DIR: a Landlock domain, for this thread and what it starts, in
// which files can be changed in DIR only, no TCP port reached, and no abstract
// socket outside; and a filter on top, which refuses add_key as unrelated.
func restrictTo(a []string) (string, error) {
	attr := [3]uint64{changeFiles, 0, 0}
	if landlockABI() < abiTruncate {
		attr[0] &^= 1 << 14
	}
	if landlockABI() >= 4 {
		attr[1] = handledTCP
	}
	if landlockABI() >= abiScope {
		attr[2] = scopedSocket
	}
	size := uintptr(8)
	for i := range attr {
		if attr[i] != 0 {
			size = uintptr(8 * (i + 1))
		}
	}
	ruleset, _, errno := syscall.RawSyscall(numbers["landlock_create_ruleset"], uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return "landlock_create_ruleset", errno
	}
	defer func() { _ = syscall.Close(int(ruleset)) }()
	dir, err := syscall.Open(a[0], oPath|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "open", err
	}
	defer func() { _ = syscall.Close(dir) }()
	rule := binary.NativeEndian.AppendUint64(nil, attr[0])
	rule = binary.NativeEndian.AppendUint32(rule, uint32(dir))
	const pathBeneath = 1
	if _, _, errno := syscall.RawSyscall6(numbers["landlock_add_rule"], ruleset, pathBeneath, uintptr(unsafe.Pointer(&rule[0])), 0, 0, 0); errno != 0 {
		return "landlock_add_rule", errno
	}
	if _, _, errno := syscall.RawSyscall(numbers["landlock_restrict_self"], ruleset, 0, 0); errno != 0 {
		return "landlock_restrict_self", errno
	}
	return "filter", addFilter([]string{"add_key"}, syscall.EDOM)
}

// asOrphan OPERATION...: done by a process whose parent has ended.
func asOrphan(a []string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "executable", err
	}
	cmd := exec.Command("/bin/sh", slices.Concat([]string{"-c", `("$@" <&0 & ) `, "sh", exe, probeArg}, a)...)
	read, write, err := os.Pipe()
	if err != nil {
		return "pipe", err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, write, os.Stderr // /dev/null can't be written
	if err := cmd.Run(); err != nil {
		return "run", err
	}
	_ = write.Close()
	return readReply(read)
}

// elsewhere OPERATION...: done on another thread, which was there before.
func elsewhere(a []string) (string, error) {
	type answer struct {
		detail string
		err    error
	}
	done := make(chan answer)
	otherThread <- func() {
		detail, err := operate(operations(), a[0], a[1:])
		done <- answer{detail, err}
	}
	got := <-done
	return got.detail, got.err
}

// otherThread runs functions on a thread of its own, which is started with
// the first operation and so before any restriction.
var otherThread = func() chan func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range c {
			f()
		}
	}()
	return c
}()

// readReply reads the one line of another probe.
func readReply(f *os.File) (string, error) {
	buf := make([]byte, 4096)
	n, err := f.Read(buf)
	if err != nil {
		return "read", err
	}
	var name, quoted string
	for i, c := range buf[:n] {
		if c == ' ' {
			name, quoted = string(buf[1:i]), string(buf[i+1:n-1])
			break
		}
	}
	detail, _ := strconv.Unquote(quoted)
	if name == "OK" {
		return detail, nil
	}
	for e := syscall.Errno(1); e < 200; e++ {
		if outcome(e) == name {
			return detail, e
		}
	}
	return name, syscall.EDOTDOT
}
