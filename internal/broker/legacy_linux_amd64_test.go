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
