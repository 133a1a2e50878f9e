// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lsmNames are the LSM_ID_* numbers of linux/lsm.h, from 100 on, by the names
// that /sys/kernel/security/lsm and the lsm= boot parameter use.
var lsmNames = [...]string{
	"capability", "selinux", "smack", "tomoyo", "apparmor", "yama", "loadpin",
	"safesetid", "lockdown", "bpf", "landlock", "ima", "evm", "ipe",
}

const firstLSM = 100

// ActiveLSMs returns the names of the security modules that are active, in
// the order in which the kernel asks them. Unlike the file in securityfs it
// needs no mount and no privilege, but it came only with Linux 6.8 (ENOSYS
// before; lsm_list_modules in security/lsm_syscalls.c).
func ActiveLSMs() ([]string, error) {
	var ids [32]uint64
	size := uint32(unsafe.Sizeof(ids))
	n, _, errno := unix.RawSyscall(unix.SYS_LSM_LIST_MODULES,
		uintptr(unsafe.Pointer(&ids)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("lsm_list_modules", errno)
	}
	var names []string
	for _, id := range ids[:min(int(n), len(ids))] {
		names = append(names, lsmName(id))
	}
	return names, nil
}

// lsmName gives a module that is newer than the table its number.
func lsmName(id uint64) string {
	if id >= firstLSM && id-firstLSM < uint64(len(lsmNames)) {
		return lsmNames[id-firstLSM]
	}
	return "lsm-" + strconv.FormatUint(id, 10)
}
