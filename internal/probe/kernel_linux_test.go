// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// accepts asks the kernel for a ruleset that handles these rights.
func accepts(t *testing.T, r Rights) error {
	t.Helper()
	fd, err := sys.LandlockCreateRuleset(sys.Ruleset{FS: uint64(r.FS), Net: uint64(r.Net), Scoped: uint64(r.Scope)})
	if err == nil {
		_ = syscall.Close(fd)
	}
	return err
}

// TestMasksAgreeWithKernel holds the table against the running kernel: it
// takes every right of its ABI, one by one and together, and none of the
// rights that later ABIs brought.
func TestMasksAgreeWithKernel(t *testing.T) {
	f := needLandlock(t)
	if f.ABI > NewestABI() {
		t.Logf("this kernel's ABI %d is newer than the table: only its known rights are checked", f.ABI)
	}
	if err := accepts(t, f.Rights); err != nil {
		t.Errorf("ABI %d refuses all of its rights together: %v", f.ABI, err)
	}
	for _, g := range rightGroups {
		for bit, name := range g.names {
			want := g.rights(bit)
			if want.Restrict != 0 || want.AddRule != 0 {
				continue // no rights: TestRestrictFlagsAgreeWithKernel
			}
			err := accepts(t, want)
			if f.Rights.or(want) == f.Rights && err != nil {
				t.Errorf("ABI %d refuses %s%s: %v", f.ABI, g.prefix, name, err)
			}
			if f.Rights.or(want) != f.Rights && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.E2BIG) {
				t.Errorf("ABI %d on %s%s, which it should not know: %v", f.ABI, g.prefix, name, err)
			}
		}
	}
}

// TestRestrictFlagsAgreeWithKernel gives each flag with a descriptor that
// can't exist: EBADF proves that the flag was taken, EINVAL that it is not
// known. A process without no_new_privs gets EPERM before that on some
// kernels, so it runs in one of its own.
func TestRestrictFlagsAgreeWithKernel(t *testing.T) {
	f := needLandlock(t)
	o := runChild(t.Context(), childSpec{name: "flags"})
	for bit, name := range restrictNames {
		answer, heard := o.answer(name)
		// Muting the log of later domains alone needs no ruleset.
		taken := errors.Is(answer, syscall.EBADF) || answer == nil && RestrictLogSubdomainsOff == 1<<bit
		if known := f.Rights.Restrict&(1<<bit) != 0; known != taken || !taken && !errors.Is(answer, syscall.EINVAL) || !heard {
			t.Errorf("flag %s at ABI %d (known: %v): got %v", name, f.ABI, known, answer)
		}
	}
}

// flagsChild asks for each landlock_restrict_self flag.
func flagsChild(t teller, _ []string) {
	_ = sys.SetNoNewPrivs()
	for bit, name := range restrictNames {
		_ = t.try(name, func() error { return sys.LandlockRestrictSelf(-1, 1<<bit) })
	}
}

// TestSeccompFlagProbe: the question tells known from unknown flags and
// installs nothing.
func TestSeccompFlagProbe(t *testing.T) {
	before := changeable(t)
	if err := sys.SeccompTryFlags(0); err != nil {
		t.Errorf("no flags: %v", err)
	}
	if err := sys.SeccompTryFlags(1 << 30); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a flag that does not exist: got %v, want EINVAL", err)
	}
	if err := sys.SeccompTryFlags(sys.SeccompWaitKillableRecv); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("killable wait without a listener: got %v, want EINVAL", err)
	}
	if after := changeable(t); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func TestSettingsHere(t *testing.T) {
	s := thisHost().settings()
	for _, name := range []string{"process.uid", "process.capabilities", "process.no_new_privs", SetSeccompMode} {
		if v, ok := s.Get(name); !ok || v == "" {
			t.Errorf("%s: %q, %v", name, v, ok)
		}
	}
	f := needLandlock(t)
	if lsms, ok := s.Get(SetLSMs); ok && !s.HasLSM("landlock") {
		t.Errorf("ABI %d, but landlock is not in the list %q", f.ABI, lsms)
	}
	if s.HasLSM("yama") != (f.PtraceScope >= 0) {
		if _, ok := s.Get(SetLSMs); ok {
			t.Errorf("ptrace scope %d, but the list says otherwise", f.PtraceScope)
		}
	}
}

// TestExpectDenied: an attempt that was not denied is never taken for one.
func TestExpectDenied(t *testing.T) {
	for _, tt := range []struct {
		control string
		want    error
	}{
		{"/", errNotDenied}, // nothing restricts this process
		{"", errNoControl},
		{"/no such file", syscall.ENOENT},
	} {
		err := expectDenied(tt.control)
		if v, _ := domainRefusals.judge(err); !errors.Is(err, tt.want) || v == Yes {
			t.Errorf("expectDenied(%q) = %v, which is a %v", tt.control, err, v)
		}
	}
}
