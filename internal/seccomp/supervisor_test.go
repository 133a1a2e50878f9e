// SPDX-License-Identifier: Apache-2.0

package seccomp

import "testing"

// TestSupervisor asks the supervisor's filter about calls that it must refuse
// whatever else changes, and about those whose arguments decide.
func TestSupervisor(t *testing.T) {
	const anything = ^uint64(0)
	type try struct {
		name string
		args [6]uint64
		want uint32
	}
	tries := []try{
		{"clone", [6]uint64{0x50f00}, retAllow}, // the runtime's threads
		{"clone", [6]uint64{17}, retErrno | 1},  // fork
		{"clone", [6]uint64{0x4111}, retErrno | 1},
		{"mmap", [6]uint64{0, 1, 3}, retAllow},
		{"mmap", [6]uint64{0, 1, 7}, retErrno | 1},
		{"mprotect", [6]uint64{0, 1, 5}, retErrno | 1},
		{"mprotect", [6]uint64{0, 1, 1}, retAllow},
		{"unshare", [6]uint64{0x200}, retAllow},
		{"unshare", [6]uint64{0x10000000}, retErrno | 1},
		{"unshare", [6]uint64{0x600}, retErrno | 1},
		{"seccomp", [6]uint64{3}, retAllow},
		{"seccomp", [6]uint64{1}, retErrno | 1},
		{"prctl", [6]uint64{0x53564d41}, retAllow},
		{"prctl", [6]uint64{4, 1}, retErrno | 1}, // PR_SET_DUMPABLE
		{"prlimit64", [6]uint64{7, 10, 4096}, retAllow},
		{"prlimit64", [6]uint64{7, 10, 1 << 40}, retAllow},
		{"prlimit64", [6]uint64{7, 1, 0, 4096}, retAllow},
		{"prlimit64", [6]uint64{7, 1, 4096}, retErrno | 1},
		{"prlimit64", [6]uint64{7, 1, 1 << 40}, retErrno | 1},
		{"prlimit64", [6]uint64{0, 7, 4096}, retAllow},
		{"ioctl", [6]uint64{0, 0xc0502100}, retAllow},
		{"ioctl", [6]uint64{0, 0x5412}, retErrno | 1}, // TIOCSTI
		{"ioctl", [6]uint64{0, 0x40086602}, retErrno | 1},
		{"clone3", [6]uint64{anything}, retErrno | uint32(ENOSYS)}, // what it makes is in memory
		{"openat", [6]uint64{anything}, retAllow},
		{"futex", [6]uint64{anything}, retAllow},
	}
	for _, name := range []string{
		"execve", "execveat", "fork", "vfork", "ptrace", "process_madvise", "setns", "mount", "umount2", "move_mount",
		"open_tree", "fsopen", "mount_setattr", "pivot_root", "chroot", "socket", "socketpair", "accept4", "listen",
		"io_uring_setup", "io_uring_enter", "io_uring_register", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key",
		"request_key", "init_module", "finit_module", "kexec_load", "reboot", "open_by_handle_at", "fanotify_init",
		"setuid", "setresuid", "setgroups", "shmget", "mq_open", "landlock_restrict_self", "swapon",
		"memfd_secret", "pkey_mprotect", "personality", "sethostname", "modify_ldt", "chdir", "quotactl",
	} {
		tries = append(tries, try{name, [6]uint64{}, retErrno | 1}, try{name, [6]uint64{anything, anything, anything}, retErrno | 1})
	}
	for _, arch := range testArches {
		p, err := Supervisor(arch.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, try := range tries {
			nr, ok := Number(arch.name, try.name)
			if !ok {
				continue
			}
			if got, _ := interpret(t, p.Instructions(), data{nr: nr, arch: arch.audit, args: try.args}); got != try.want {
				t.Errorf("%s: %s%#x: %#x, want %#x", arch.name, try.name, try.args, got, try.want)
			}
		}
		for _, d := range []data{{nr: 472, arch: arch.audit}, {nr: 1 << 30, arch: arch.audit}, {nr: 0, arch: 0x40000003}} {
			if got, _ := interpret(t, p.Instructions(), d); got != retErrno|uint32(ENOSYS) {
				t.Errorf("%s: %+v: %#x, want ENOSYS", arch.name, d, got)
			}
		}
	}
	if _, err := Supervisor("riscv64"); err == nil {
		t.Error("there is a filter for an architecture that nobody knows")
	}
}
