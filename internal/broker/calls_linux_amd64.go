// SPDX-License-Identifier: Apache-2.0

package broker

import "syscall"

// callTable adds the older calls, which only the older architectures have.
func callTable() map[int32]call {
	t := commonCalls()
	t[syscall.SYS_CHMOD] = call{"chmod", chmod}
	return t
}
