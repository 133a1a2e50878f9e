// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// fakeKernel answers like a kernel that is not at hand.
type fakeKernel struct {
	abi       int
	abiErr    syscall.Errno
	errata    uint32
	errataErr syscall.Errno
	// known are the filter flags that the kernel knows; flagErr is what a
	// filter answers before the kernel is asked.
	known    uintptr
	flagErr  syscall.Errno
	sizesErr syscall.Errno
	yama     string // content of the file; "" means that it does not exist
	yamaErr  syscall.Errno
	noProc   bool
	caps     uint64
}

// modern is a kernel that has it all.
var modern = fakeKernel{abi: 11, errata: 0xf, known: sys.SeccompNewListener | sys.SeccompWaitKillableRecv, yama: "1\n"}

func failing(call string, errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return os.NewSyscallError(call, errno)
}

func (k fakeKernel) host() host {
	return host{
		release:        func() (string, error) { return "1.2.3", nil },
		landlockABI:    func() (int, error) { return k.abi, failing("landlock_create_ruleset", k.abiErr) },
		landlockErrata: func() (uint32, error) { return k.errata, failing("landlock_create_ruleset", k.errataErr) },
		filterFlags:    k.filterFlags,
		notifSizes: func() (NotifSizes, error) {
			return NotifSizes{80, 24, 64}, failing("seccomp", k.sizesErr)
		},
		effectiveCaps: func() (uint64, error) { return k.caps, nil },
		readFile:      k.readFile,
		exists: func(string) error {
			if k.noProc {
				return syscall.ENOENT
			}
			return nil
		},
	}
}

func (k fakeKernel) filterFlags(flags uintptr) error {
	switch {
	case k.flagErr != 0:
		return failing("seccomp", k.flagErr)
	case flags&^k.known != 0:
		return failing("seccomp", syscall.EINVAL)
	}
	return nil
}

func (k fakeKernel) readFile(path string) (string, error) {
	switch {
	case path == yamaFile && k.yamaErr != 0:
		return "", &os.PathError{Op: "open", Path: path, Err: k.yamaErr}
	case path == yamaFile && k.yama != "":
		return k.yama, nil
	}
	return "", &os.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

func fakeFacts(t *testing.T, k fakeKernel) *Facts {
	t.Helper()
	f, err := k.host().quick()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLandlockAnswers(t *testing.T) {
	tests := []struct {
		name string
		k    fakeKernel
		want Verdict
		abi  int
	}{
		{"a kernel without the errata query", fakeKernel{abi: 3, errataErr: syscall.EINVAL}, Yes, 3},
		{"a kernel newer than this program", fakeKernel{abi: 99, errata: 0xff}, Yes, 99},
		{"not built, or hidden", fakeKernel{abiErr: syscall.ENOSYS}, No, 0},
		{"not started at boot", fakeKernel{abiErr: syscall.EOPNOTSUPP}, No, 0},
		{"a filter with EPERM", fakeKernel{abiErr: syscall.EPERM}, No, 0},
		{"a filter with EACCES", fakeKernel{abiErr: syscall.EACCES}, No, 0},
		{"no memory tells nothing", fakeKernel{abiErr: syscall.ENOMEM}, Unknown, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := fakeFacts(t, tt.k)
			if f.Landlock.Verdict != tt.want || f.ABI != tt.abi || f.Rights != RightsOf(tt.abi) {
				t.Errorf("got %v, ABI %d, rights %v", f.Landlock.Verdict, f.ABI, f.Rights)
			}
			if f.Landlock.Detail == "" || (f.Landlock.Verdict == Yes) != (f.Landlock.Err == nil) {
				t.Errorf("detail %q, error %v", f.Landlock.Detail, f.Landlock.Err)
			}
			if tt.k.abiErr != 0 && !errors.Is(f.Landlock.Err, tt.k.abiErr) {
				t.Errorf("the errno got lost: %v", f.Landlock.Err)
			}
		})
	}
}

func TestSeccompAnswers(t *testing.T) {
	type verdicts struct{ filter, notif, killable Verdict }
	tests := []struct {
		name string
		k    fakeKernel
		want verdicts
	}{
		{"modern", modern, verdicts{Yes, Yes, Yes}},
		{"5.0 to 5.18", fakeKernel{known: sys.SeccompNewListener}, verdicts{Yes, Yes, No}},
		{"before 5.0", fakeKernel{sizesErr: syscall.EINVAL}, verdicts{Yes, No, No}},
		{"flags known, sizes not", fakeKernel{known: modern.known, sizesErr: syscall.EINVAL}, verdicts{Yes, No, Yes}},
		{"a filter refuses seccomp", fakeKernel{flagErr: syscall.EPERM}, verdicts{No, No, No}},
		{"a filter hides seccomp", fakeKernel{flagErr: syscall.ENOSYS}, verdicts{No, No, No}},
		{"an answer that tells nothing", fakeKernel{flagErr: syscall.ENOMEM}, verdicts{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := fakeFacts(t, tt.k)
			got := verdicts{f.SeccompFilter.Verdict, f.UserNotif.Verdict, f.WaitKillable.Verdict}
			if got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if !f.UserNotif.Usable() && f.NotifSizes != (NotifSizes{}) {
				t.Errorf("sizes %v of a thing that can't be used", f.NotifSizes)
			}
		})
	}
}

func TestYamaAnswers(t *testing.T) {
	tests := []struct {
		name  string
		k     fakeKernel
		scope PtraceScope
		want  Verdict
	}{
		{"absent", fakeKernel{}, PtraceScopeAbsent, Yes},
		{"absent because /proc is", fakeKernel{noProc: true}, PtraceScopeUnknown, Unknown},
		{"0", fakeKernel{yama: "0\n"}, PtraceScopeClassic, Yes},
		{"1", fakeKernel{yama: "1\n"}, PtraceScopeChild, Yes},
		{"2, an ordinary user", fakeKernel{yama: "2\n"}, PtraceScopeAdmin, No},
		{"2, with the capability", fakeKernel{yama: "2\n", caps: 1 << sys.CapSysPtrace}, PtraceScopeAdmin, Yes},
		{"3, even with the capability", fakeKernel{yama: "3\n", caps: ^uint64(0)}, PtraceScopeNone, No},
		{"a mode that does not exist yet", fakeKernel{yama: "4\n"}, 4, Unknown},
		{"no number", fakeKernel{yama: "x\n"}, PtraceScopeUnknown, Unknown},
		{"negative", fakeKernel{yama: "-1\n"}, PtraceScopeUnknown, Unknown},
		{"unreadable", fakeKernel{yamaErr: syscall.EACCES}, PtraceScopeUnknown, Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := fakeFacts(t, tt.k)
			if f.PtraceScope != tt.scope || f.ReadMemory.Verdict != tt.want {
				t.Errorf("got scope %d, %v (%s)", f.PtraceScope, f.ReadMemory.Verdict, f.ReadMemory.Detail)
			}
		})
	}
}

func TestQuickNeedsAKernelToAsk(t *testing.T) {
	h := modern.host()
	h.release = func() (string, error) { return "", os.NewSyscallError("uname", syscall.EPERM) }
	if f, err := h.quick(); f != nil || !errors.Is(err, syscall.EPERM) {
		t.Errorf("got %v, %v", f, err)
	}
}

// TestErrataNeverLowerRights guards the decision that is explained at
// errataTable: what can be restricted depends on the ABI alone.
func TestErrataNeverLowerRights(t *testing.T) {
	for abi := 1; abi <= NewestABI(); abi++ {
		for _, mask := range []uint32{0, 0x1, 0x7, 0xf} {
			f := fakeFacts(t, fakeKernel{abi: abi, errata: mask})
			if f.Rights != RightsOf(abi) {
				t.Errorf("ABI %d with errata %#x: rights %v", abi, mask, f.Rights)
			}
		}
	}
}

func BenchmarkQuick(b *testing.B) {
	for b.Loop() {
		if _, err := Quick(); err != nil {
			b.Fatal(err)
		}
	}
}
