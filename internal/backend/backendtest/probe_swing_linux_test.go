// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// swingOperations race with another thread.
func swingOperations() map[string]operation { return map[string]operation{"swing": swing} }

// swing LINK OTHER CLOSED FLAGS: opens LINK once, and then for half a second
// while another thread exchanges it and OTHER. The detail says whether the first
// open worked, and whether a later one opened CLOSED.
func swing(a []string) (string, error) {
	flags, err := constant(a[3])
	if err != nil {
		return "", err
	}
	var closed syscall.Stat_t
	if err := syscall.Stat(a[2], &closed); err != nil {
		return "stat", err
	}
	fd, err := syscall.Open(a[0], int(flags), 0) // nobody exchanges yet
	opened, stolen := err == nil, false
	_ = syscall.Close(fd)
	end := time.Now().Add(time.Second / 2)
	go exchangeUntil(end, a[0], a[1])
	for time.Now().Before(end) {
		fd, err := syscall.Open(a[0], int(flags), 0)
		if err != nil {
			continue
		}
		var st syscall.Stat_t
		err = syscall.Fstat(fd, &st)
		_ = syscall.Close(fd)
		if err != nil {
			return "fstat", err
		}
		stolen = stolen || st.Ino == closed.Ino && st.Dev == closed.Dev
	}
	return fmt.Sprintf("opened %v stolen %v", opened, stolen), nil
}

// exchangeUntil exchanges two names until a time.
func exchangeUntil(end time.Time, one, other string) {
	runtime.LockOSThread()
	a, _ := syscall.BytePtrFromString(one)
	b, _ := syscall.BytePtrFromString(other)
	at := constants["AT"]
	for time.Now().Before(end) {
		_, _, errno := syscall.Syscall6(numbers["renameat2"], uintptr(at), uintptr(unsafe.Pointer(a)), uintptr(at), uintptr(unsafe.Pointer(b)), 2, 0)
		if errno != 0 {
			fmt.Fprintln(os.Stderr, "exchange:", errno)
			return
		}
	}
}
