// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"unsafe"
)

// openSlave opens the other end of a terminal (pts(4)).
func openSlave(t *testing.T, master *os.File) *os.File {
	t.Helper()
	var number, unlocked int32
	for request, value := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlocked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	f, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
