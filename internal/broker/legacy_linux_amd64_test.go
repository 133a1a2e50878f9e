// SPDX-License-Identifier: Apache-2.0

package broker

import "syscall"

// legacyCalls are those that only older architectures have.
func legacyCalls(uid, gid int, stamp memory) []metadataCall {
	path := func(rest ...any) func(any) []any {
		return func(o any) []any { return append([]any{o}, rest...) }
	}
	return []metadataCall{
		{"chmod", syscall.SYS_CHMOD, false, path(0o604)},
		{"chown", syscall.SYS_CHOWN, false, path(uid, gid)},
		{"lchown", syscall.SYS_LCHOWN, false, path(uid, gid)},
		{"utime", syscall.SYS_UTIME, false, path(times(1000, 2000))},
		{"utime now", syscall.SYS_UTIME, false, path(0)},
		{"utimes", syscall.SYS_UTIMES, false, path(stamp)},
		{"futimesat", syscall.SYS_FUTIMESAT, false, func(o any) []any { return []any{atFDCWD, o, stamp} }},
		{"futimesat by fd", syscall.SYS_FUTIMESAT, true, path(0, stamp)},
	}
}

const sysRenameat2 = 316

func legacyRandomly(d *dice) []randomly {
	seconds := []any{0, times(3, 4), 1 << 20}[d.IntN(3)]
	return []randomly{
		{syscall.SYS_CHMOD, "chmod", func(w *twin) []any { return []any{d.path(w), d.mode} }},
		{syscall.SYS_CHOWN, "chown", func(w *twin) []any { return []any{d.path(w), d.uid, d.gid} }},
		{syscall.SYS_LCHOWN, "lchown", func(w *twin) []any { return []any{d.path(w), d.uid, d.gid} }},
		{syscall.SYS_UTIME, "utime", func(w *twin) []any { return []any{d.path(w), seconds} }},
		{syscall.SYS_UTIMES, "utimes", func(w *twin) []any { return []any{d.path(w), d.stamp} }},
		{syscall.SYS_FUTIMESAT, "futimesat", func(w *twin) []any { return []any{d.dir, d.path(w), d.stamp} }},
	}
}
