// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"syscall"
	"testing"
)

// legacyFileCalls are those that only older architectures have.
func legacyFileCalls() []fileCall {
	plain := func(nr int, args ...any) func(*subject, testing.TB, string) outcome {
		return func(s *subject, tb testing.TB, name string) outcome {
			tb.Helper()
			return s.call(tb, nr, append([]any{str(name)}, args...)...)
		}
	}
	opening := func(nr int, args ...any) func(*subject, testing.TB, string) outcome {
		return func(s *subject, tb testing.TB, name string) outcome {
			tb.Helper()
			o := plain(nr, args...)(s, tb, name)
			if o.Errno == 0 {
				s.close(tb, int(o.Value))
				o.Value = 0
			}
			return o
		}
	}
	return []fileCall{
		{"open to write", false, opening(syscall.SYS_OPEN, os.O_WRONLY, 0)},
		{"create by open", true, opening(syscall.SYS_OPEN, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)},
		{"mkdir", true, plain(syscall.SYS_MKDIR, 0o755)},
		{"mknod", true, plain(syscall.SYS_MKNOD, syscall.S_IFREG|0o644, 0)},
		{"symlink plainly", true, func(s *subject, tb testing.TB, name string) outcome {
			tb.Helper()
			return s.call(tb, syscall.SYS_SYMLINK, str("anything"), str(name))
		}},
		{"unlink", false, plain(syscall.SYS_UNLINK)},
	}
}

// TestNestedLegacy: the rest of the older calls, each where it works and where
// it does not.
func TestNestedLegacy(t *testing.T) {
	p := makeProject(t)
	s, _ := startProject(t, p, "blocked-write")
	check := func(what string, o outcome, want syscall.Errno) {
		t.Helper()
		if o.Errno != want {
			t.Errorf("%s: %v", what, o)
		}
	}
	check("creat", s.call(t, syscall.SYS_CREAT, str("created"), 0o600), 0)
	check("creat over an exception", s.call(t, syscall.SYS_CREAT, str("git/config"), 0o600), syscall.EACCES)
	check("link", s.call(t, syscall.SYS_LINK, str("created"), str("git/linked")), 0)
	check("link over an exception", s.call(t, syscall.SYS_LINK, str("created"), str("missing")), syscall.EACCES)
	check("rename", s.call(t, syscall.SYS_RENAME, str("git/linked"), str("moved")), 0)
	check("rename over an exception", s.call(t, syscall.SYS_RENAME, str("moved"), str("git/config")), syscall.EACCES)
	check("renameat", s.call(t, syscall.SYS_RENAMEAT, atFDCWD, str("moved"), atFDCWD, str("moved2")), 0)
	check("rmdir", s.call(t, syscall.SYS_RMDIR, str("data")), 0)
	check("rmdir of a folder on the way", s.call(t, syscall.SYS_RMDIR, str("a")), syscall.EACCES)
	for name, want := range map[string]bool{"created": true, "moved2": true, "moved": false, "data": false, "missing": false} {
		if _, err := os.Lstat(p.dir + "/" + name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
