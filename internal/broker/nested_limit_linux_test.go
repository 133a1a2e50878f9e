// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// playTooLarge has a limit for the size of files, and makes one longer than
// that by truncate(2). Argument: the file.
func playTooLarge(args []string) error {
	const fsize = 1 // RLIMIT_FSIZE
	limit := binary.NativeEndian.AppendUint64(nil, 1000)
	limit = binary.NativeEndian.AppendUint64(limit, 1000)
	if _, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, 0, fsize, uintptr(unsafe.Pointer(&limit[0])), 0, 0, 0); errno != 0 {
		return errno
	}
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGXFSZ)
	for _, size := range []int64{1000, 1001, 1 << 40, 5} {
		err := syscall.Truncate(args[0], size)
		got := 0
		if err != nil {
			select {
			case <-caught:
				got++
			case <-time.After(5 * time.Second):
			}
		}
		fmt.Println(size, sys.ErrnoName(errnoFrom(err)), got, len(caught))
	}
	return nil
}

func errnoFrom(err error) syscall.Errno {
	errno, _ := err.(syscall.Errno)
	return errno
}

// TestNestedFileSizeLimit: the signal that a too long file brings comes once,
// as outside.
func TestNestedFileSizeLimit(t *testing.T) {
	p := makeProject(t)
	name := p.dir + "/a/f" // its folder has no native rule
	const want = "1000  0 0\n1001 EFBIG 1 0\n1099511627776 EFBIG 1 0\n5  0 0\n"
	native := start(t, roleBare, nil, "too large", name)
	brokered, _ := startNested(t, hostTree(t, p.rules(policy.BlockedWrite)...), "too large", name)
	for what, s := range map[string]*subject{"native": native, "brokered": brokered} {
		if got, err := io.ReadAll(s.out); string(got) != want || err != nil {
			t.Errorf("%s: %s, %v", what, got, err)
		}
	}
}
