// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// landlockABI asks the kernel itself, not the product: 0 is none.
func landlockABI() int {
	const version = 1 // LANDLOCK_CREATE_RULESET_VERSION
	n, _, errno := syscall.RawSyscall(numbers["landlock_create_ruleset"], 0, 0, version)
	if errno != 0 {
		return 0
	}
	return int(n)
}

func kernelRelease() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// asExpected compares this machine with the promised one, so that a wrong
// boot does not turn denials into cases that "cannot be tested here".
func asExpected() error {
	if want := os.Getenv("AMBIT_EXPECT_KERNEL"); !strings.HasPrefix(kernelRelease(), want) {
		return fmt.Errorf("this is kernel %s, and AMBIT_EXPECT_KERNEL says %s", kernelRelease(), want)
	}
	want := os.Getenv("AMBIT_EXPECT_ABI")
	if os.Getenv("AMBIT_EXPECT") == "unavailable" {
		want = "0"
	}
	if want != "" && want != strconv.Itoa(landlockABI()) {
		return fmt.Errorf("this kernel has Landlock ABI %d, and %s is expected", landlockABI(), want)
	}
	if want == "" && landlockABI() == 0 {
		return fmt.Errorf("this kernel has no Landlock, so no sandbox can be tested here; AMBIT_EXPECT=unavailable says that this is expected")
	}
	return nil
}

// unavailable says that no sandbox can be made here, and that this is known.
func unavailable() bool { return landlockABI() == 0 }

// slow says that this is an emulated machine.
func slow() bool { return os.Getenv("AMBIT_SLOW") == "1" }

// patience is how long a test waits for what takes no longer than d on a
// machine that has nothing else to do. That of the tests may be loaded many
// times over.
func patience(d time.Duration) time.Duration {
	if slow() {
		return 16 * d
	}
	return 5 * d
}

// pause is how long a test waits where there is nothing to wait for: so that
// what must not happen could.
func pause(d time.Duration) time.Duration {
	if slow() {
		return 8 * d
	}
	return d
}

// times is how often a test repeats what may fail by chance.
func times(n int) int {
	if slow() {
		return (n + 7) / 8
	}
	return n
}

// The ABIs that brought what cases depend on (Documentation/userspace-api/landlock.rst).
const (
	abiRefer    = 2 // moving files between folders
	abiTruncate = 3
	abiDevices  = 5 // ioctl on devices
	abiScope    = 6 // signals and abstract sockets
	abiUnix     = 9 // connecting to socket files
)

// eventually waits until ok holds, and fails the test if it does not in time.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience(10 * time.Second)); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("this did not happen in time: %s", what)
		}
	}
}
