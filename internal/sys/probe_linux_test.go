// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestErrnoName(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("text"), ""},
		{syscall.EPERM, "EPERM"},
		{fmt.Errorf("cannot x: %w", os.NewSyscallError("seccomp", syscall.EACCES)), "EACCES"},
		{&os.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, "ENOENT"},
		{syscall.Errno(4000), ""},
	} {
		if got := ErrnoName(tt.err); got != tt.want {
			t.Errorf("ErrnoName(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}

func TestReadSmallFile(t *testing.T) {
	const file = "/proc/sys/kernel/osrelease"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadSmallFile(file); err != nil || got != string(want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	release, err := KernelRelease()
	if err != nil || release != strings.TrimSpace(string(want)) {
		t.Errorf("KernelRelease() = %q, %v, want %q", release, err, want)
	}
	if _, err := ReadSmallFile("/proc/no such file"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := ReadSmallFile("/proc"); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a folder: %v", err)
	}
}

// TestEffectiveCaps compares with /proc (proc_pid_status(5), CapEff).
func TestEffectiveCaps(t *testing.T) {
	got, err := EffectiveCaps()
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("CapEff:\t%016x\n", got); !strings.Contains(string(status), want) {
		t.Errorf("%q is not in the status:\n%s", want, status)
	}
}

// TestActiveLSMs: the kernel's own list names Landlock exactly where Landlock
// answers.
func TestActiveLSMs(t *testing.T) {
	names, err := ActiveLSMs()
	if errors.Is(err, syscall.ENOSYS) {
		t.Skip("this kernel can't list its modules: before Linux 6.8")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = LandlockABI()
	if slices.Contains(names, "landlock") != (err == nil) || !slices.Contains(names, "capability") {
		t.Errorf("modules %q, but Landlock answers %v", names, err)
	}
}

func TestLSMName(t *testing.T) {
	for id, want := range map[uint64]string{
		99: "lsm-99", 100: "capability", 104: "apparmor", 110: "landlock", 113: "ipe", 5000: "lsm-5000",
	} {
		if got := lsmName(id); got != want {
			t.Errorf("lsmName(%d) = %q, want %q", id, got, want)
		}
	}
}

func BenchmarkReadSmallFile(b *testing.B) {
	const file = "/proc/sys/kernel/osrelease"
	b.Run("ReadSmallFile", func(b *testing.B) {
		for b.Loop() {
			_, _ = ReadSmallFile(file)
		}
	})
	b.Run("os.ReadFile", func(b *testing.B) {
		for b.Loop() {
			_, _ = os.ReadFile(file)
		}
	})
}
