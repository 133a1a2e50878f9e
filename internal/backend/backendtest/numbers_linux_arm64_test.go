// SPDX-License-Identifier: Apache-2.0

package backendtest

import "syscall"

var archNumbers = map[string]uintptr{
	"setns": syscall.SYS_SETNS, "process_vm_readv": syscall.SYS_PROCESS_VM_READV, "process_vm_writev": syscall.SYS_PROCESS_VM_WRITEV,
	"name_to_handle_at": syscall.SYS_NAME_TO_HANDLE_AT, "open_by_handle_at": syscall.SYS_OPEN_BY_HANDLE_AT,
	"kcmp": 272, "finit_module": 273, "sched_setattr": 274, "renameat2": 276, "seccomp": 277, "memfd_create": 279,
	"bpf": 280, "execveat": 281, "userfaultfd": 282, "copy_file_range": 285, "kexec_file_load": 294,
}
