// SPDX-License-Identifier: Apache-2.0

package broker

import "syscall"

// callTable adds the older calls, which only the older architectures have.
func callTable() map[int32]call {
	t := commonCalls()
	t[syscall.SYS_CHMOD] = call{"chmod", chmod}
	t[syscall.SYS_CHOWN] = call{"chown", chown}
	t[syscall.SYS_LCHOWN] = call{"lchown", lchown}
	t[syscall.SYS_UTIME] = call{"utime", utime}
	t[syscall.SYS_UTIMES] = call{"utimes", utimes}
	t[syscall.SYS_FUTIMESAT] = call{"futimesat", futimesat}
	return t
}
