// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// state is everything of an object that metadata calls could change. Its
// change time proves more than the rest: the kernel sets it at each of them.
type state struct {
	Mode, UID, GID uint32
	Links          uint64
	Ino            uint64
	Mtime, Ctime   syscall.Timespec
	Attributes     map[string]string
}

func stateOf(tb testing.TB, name string) state {
	tb.Helper()
	var st syscall.Stat_t
	if err := syscall.Lstat(name, &st); err != nil {
		tb.Fatal(err)
	}
	return state{st.Mode, st.Uid, st.Gid, uint64(st.Nlink), st.Ino, st.Mtim, st.Ctim, attributes(name)}
}

func attributes(name string) map[string]string {
	found := map[string]string{}
	var value [256]byte
	for _, attr := range []string{"user.t", "user.kept", "system.posix_acl_access", "security.t"} {
		if n, err := syscall.Getxattr(name, attr, value[:]); err == nil {
			found[attr] = string(value[:n])
		}
	}
	return found
}

// times is a buffer of seconds and fractions.
func times(v ...int64) memory {
	var b []byte
	for _, n := range v {
		b = binary.NativeEndian.AppendUint64(b, uint64(n))
	}
	return b
}

const atFDCWD = sys.AtCWD

// metadataCall is a way to change an object by its path, or, with byFD, by a
// descriptor.
type metadataCall struct {
	name string
	nr   int
	byFD bool
	args func(object any) []any
}

// metadataCalls are all calls of the table that change metadata, but for the
// older ones, which legacyCalls has where they exist.
func metadataCalls() []metadataCall {
	path := func(rest ...any) func(any) []any {
		return func(o any) []any { return append([]any{o}, rest...) }
	}
	at := func(rest ...any) func(any) []any {
		return func(o any) []any { return append([]any{atFDCWD, o}, rest...) }
	}
	emptyAt := func(rest ...any) func(any) []any {
		return func(o any) []any { return append([]any{o, str("")}, rest...) }
	}
	me, mine := os.Getuid(), os.Getgid()
	stamp := times(1000, 5000, 2000, 6000)
	return append(legacyCalls(me, mine, stamp), []metadataCall{
		{"fchmodat", syscall.SYS_FCHMODAT, false, at(0o604)},
		{"fchmodat2", sysFchmodat2, false, at(0o604, 0)},
		{"fchmodat2 by fd", sysFchmodat2, true, emptyAt(0o604, atEmptyPath)},
		{"fchmod", syscall.SYS_FCHMOD, true, path(0o604)},
		{"fchownat", syscall.SYS_FCHOWNAT, false, at(me, mine, 0)},
		{"fchownat nofollow", syscall.SYS_FCHOWNAT, false, at(me, mine, atSymlinkNoFollow)},
		{"fchownat by fd", syscall.SYS_FCHOWNAT, true, emptyAt(me, mine, atEmptyPath)},
		{"fchown", syscall.SYS_FCHOWN, true, path(me, mine)},
		{"utimensat", syscall.SYS_UTIMENSAT, false, at(stamp, 0)},
		{"utimensat now", syscall.SYS_UTIMENSAT, false, at(0, 0)},
		{"utimensat nofollow", syscall.SYS_UTIMENSAT, false, at(stamp, atSymlinkNoFollow)},
		{"utimensat one", syscall.SYS_UTIMENSAT, false, at(times(0, sys.TimeOmit, 0, sys.TimeNow), 0)},
		{"futimens", syscall.SYS_UTIMENSAT, true, path(0, stamp, 0)},
		{"futimens empty", syscall.SYS_UTIMENSAT, true, emptyAt(stamp, atEmptyPath)},
		{"setxattr", syscall.SYS_SETXATTR, false, path(str("user.t"), memory("v"), 1, 0)},
		{"setxattr acl", syscall.SYS_SETXATTR, false, path(str("system.posix_acl_access"), minimalACL(), len(minimalACL()), 0)},
		{"lsetxattr", syscall.SYS_LSETXATTR, false, path(str("user.t"), memory("v"), 1, 0)},
		{"fsetxattr", syscall.SYS_FSETXATTR, true, path(str("user.t"), memory("v"), 1, 0)},
		{"removexattr", syscall.SYS_REMOVEXATTR, false, path(str("user.kept"))},
		{"lremovexattr", syscall.SYS_LREMOVEXATTR, false, path(str("user.kept"))},
		{"fremovexattr", syscall.SYS_FREMOVEXATTR, true, path(str("user.kept"))},
	}...)
}

// minimalACL says the same as mode 0640 (acl(5), posix_acl_xattr.h).
func minimalACL() memory {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][2]uint16{{0x01, 6}, {0x04, 4}, {0x20, 0}} {
		b = binary.LittleEndian.AppendUint16(b, e[0])
		b = binary.LittleEndian.AppendUint16(b, e[1])
		b = binary.LittleEndian.AppendUint32(b, 0xffffffff)
	}
	return b
}

// waitForNewTime waits until a change in dir gets another time than the last
// one got: file systems note the time in steps of some milliseconds
// (current_time, fs/inode.c).
func waitForNewTime(t *testing.T, dir, last string) {
	t.Helper()
	n := len(metadataCalls())
	waitFor(t, "a later time of the file system", func() bool {
		freshFile(t, dir, n)
		return stateOf(t, file(dir, n)).Ctime != stateOf(t, last).Ctime
	})
}

// TestEveryCall makes each call on a writable and on two other files: there
// it works, here it changes nothing.
func TestEveryCall(t *testing.T) {
	f := makeFolders(t)
	closed := filepath.Join(filepath.Dir(f.w), "none")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	s, b := startBrokered(t, f.options(t), "calls", nil)
	for i := range metadataCalls() {
		for _, dir := range []string{f.w, f.r, closed} {
			freshFile(t, dir, i)
		}
	}
	waitForNewTime(t, f.w, file(closed, len(metadataCalls())-1))
	for i, c := range metadataCalls() {
		t.Run(c.name, func(t *testing.T) {
			allowed := file(f.w, i)
			before := stateOf(t, allowed)
			want, change := lacking(t, c, before)
			if o := s.metadata(t, c, allowed); o.Errno != want {
				t.Errorf("on a writable file: %v, not %v", o, want)
			}
			if after := stateOf(t, allowed); cmp.Equal(before, after) == change {
				t.Errorf("on a writable file: from %+v to %+v", before, after)
			}
			if want == syscall.ENOSYS {
				return
			}
			for _, dir := range []string{f.r, closed} {
				name := file(dir, i)
				before := stateOf(t, name)
				told := refusals(b)
				if o := s.metadata(t, c, name); o.Errno != syscall.EACCES {
					t.Errorf("on %s: %v", name, o)
				}
				if diff := cmp.Diff(before, stateOf(t, name)); diff != "" {
					t.Errorf("on %s: %s", name, diff)
				}
				if n := refusals(b) - told; n != 1 {
					t.Errorf("on %s: %d denials recorded", name, n)
				}
			}
		})
	}
}

// lacking says what a call does on a file of ours: it changes something,
// unless the kernel has no such call, or none of the attributes on this file
// system.
func lacking(tb testing.TB, c metadataCall, before state) (want syscall.Errno, change bool) {
	tb.Helper()
	switch {
	case c.nr == sysFchmodat2 && !kernelIs(tb, 6, 6):
		return syscall.ENOSYS, false
	case strings.Contains(c.name, "xattr") && c.name != "setxattr acl" && before.Attributes["user.kept"] == "":
		return syscall.EOPNOTSUPP, false
	}
	return 0, true
}

// metadata makes a call on a file, through a descriptor opened for reading if
// the call takes one.
func (s *subject) metadata(tb testing.TB, c metadataCall, name string) outcome {
	tb.Helper()
	if !c.byFD {
		return s.call(tb, c.nr, c.args(str(name))...)
	}
	fd := s.open(tb, name, os.O_RDONLY)
	defer s.close(tb, fd)
	return s.call(tb, c.nr, c.args(fd)...)
}

func (s *subject) open(tb testing.TB, name string, flags int) int {
	tb.Helper()
	o := s.call(tb, syscall.SYS_OPENAT, atFDCWD, str(name), flags, 0o600)
	if o.Errno != 0 {
		tb.Fatalf("open %s: %v", name, o)
	}
	return int(o.Value)
}

func (s *subject) close(tb testing.TB, fd int) { s.call(tb, syscall.SYS_CLOSE, fd) }

func file(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("file %d", n)) }

func freshFile(tb testing.TB, dir string, n int) {
	tb.Helper()
	name := file(dir, n)
	if err := os.WriteFile(name, []byte("content"), 0o644); err != nil {
		tb.Fatal(err)
	}
	err := syscall.Setxattr(name, "user.kept", []byte("kept"), 0)
	if err != nil && (err != syscall.EOPNOTSUPP || kernelIs(tb, 6, 6)) { // tmpfs has user attributes since then
		tb.Fatalf("the tests need a file system with user attributes: %v", err)
	}
}
