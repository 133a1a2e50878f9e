// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestNamespaces: the command stays in the namespaces it starts in, and the
// file tree means what it meant.
func TestNamespaces(t *testing.T) {
	w := newWorld(t)
	as := []attempt{
		{"unshare 0x400", "OK", ""},   // CLONE_FILES
		{"unshare 0x200", "OK", ""},   // CLONE_FS
		{"unshare 0x80", "EPERM", ""}, // CLONE_NEWTIME
		{"unshare 0x100000000", "EPERM", ""},
		{"clone3 #88 88", "ENOSYS", ""},
		{"mount 'none '% 'tmpfs 0 0", "EPERM", ""},
		{"mount '% '% 0 0x1000 0", "EPERM", ""}, // MS_BIND
		{"umount2 '/proc 2", "EPERM", ""},
		{"chroot '%", "EPERM", ""},
		{"pivot_root '% '%", "EPERM", ""},
		{"open_tree AT '% 1", "EPERM", ""},
		{"move_mount AT '% AT '% 0", "EPERM", ""},
		{"fsopen 'tmpfs 0", "EPERM", ""},
		{"fsmount -1 0 0", "EPERM", ""},
		{"mount_setattr AT '% 0 #32 32", "EPERM", ""},
		{"open_by_handle_at AT #128 0", "EPERM", ""},
	}
	for _, flag := range []string{"0x00020000", "0x02000000", "0x04000000", "0x08000000", "0x10000000", "0x20000000", "0x40000000"} {
		// 17 is SIGCHLD. Made by a breach, the child would go on as a second
		// probe, and its lines would be too many.
		as = append(as, attempt{"unshare " + flag, "EPERM", ""}, attempt{"clone " + flag + "|17 0 0 0 0", "EPERM", ""})
	}
	for _, ns := range []string{"net", "mnt", "user", "ipc", "uts", "cgroup", "pid"} {
		as = append(as, attempt{"setns </proc/self/ns/" + ns + " 0", closedNamespace(t, ns), ""})
	}
	w.tryAll(w.policyFlags(), as)
	w.tryAll(w.policyFlags("--allow-network"), as)
}

// closedNamespace is what entering a namespace fails with. The descriptor that
// it takes can't even be opened under some AppArmor profiles, which is then so
// without a sandbox too.
func closedNamespace(t *testing.T, ns string) string {
	f, err := os.Open("/proc/self/ns/" + ns)
	if errors.Is(err, syscall.EACCES) {
		t.Logf("the host itself refuses to open /proc/self/ns/%s", ns)
		return "EACCES"
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	return "EPERM"
}

// TestKernelCalls: interfaces to the kernel that are closed to every command,
// and the answer that callers have a way around.
func TestKernelCalls(t *testing.T) {
	w := newWorld(t)
	as := []attempt{
		{"io_uring_setup 1 #120", "ENOSYS", ""},
		{"io_uring_enter -1 0 0 0 0 0", "ENOSYS", ""},
		{"io_uring_register -1 0 0 0", "ENOSYS", ""},
		{"bpf 0 #120 120", "EPERM", ""},
		{"perf_event_open #128 0 -1 -1 0", "EACCES", ""},
		{"userfaultfd 0", "EPERM", ""},
		{"userfaultfd 1", "EPERM", ""}, // UFFD_USER_MODE_ONLY
		{"fanotify_init 0x200 0", "EPERM", ""},
		{"keyctl 0 -3 0", "ENOSYS", ""},
		{"add_key 'user 'backendtest x:61 1 -3", "ENOSYS", ""},
		{"request_key 'user 'backendtest 0 0", "ENOSYS", ""},
		{"init_module #16 16 '", "EPERM", ""},
		{"finit_module 0 ' 0", "EPERM", ""},
		{"kexec_load 0 0 0 0", "EPERM", ""},
		{"kexec_file_load -1 -1 0 0 0", "EPERM", ""},
		{"reboot 0 0 0 0", "EPERM", ""}, // not the magic numbers
		{"swapon '%work/none 0", "EPERM", ""},
		{"acct 0", "EPERM", ""},
		{"sethostname 'x 1", "EPERM", ""},
		{"settimeofday 0 0", "EPERM", ""},
		{"vhangup", "EPERM", ""},
		{"quotactl 0 '/ 0 0", "EPERM", ""},
		{"syslog 10 0 0", "EPERM", ""},
		{"migrate_pages 1 0 0 0", "EPERM", ""},
		{"setpriority 1 0 19", "EPERM", ""},
		{"setpriority 2 0 19", "EPERM", ""},
		{"uselib '/bin/true", "ENOSYS", ""},
		{"modify_ldt 0 #16 16", "ENOSYS", ""},
		{"iopl 3", "EPERM", ""},
		{"ioperm 0x80 1 1", "EPERM", ""},
		// Shared by number, or by a name outside the file tree.
		{"shmget 0 4096 0666|0x200", "EACCES", ""},
		{"semget 0 1 0666|0x200", "EACCES", ""},
		{"msgget 0 0666|0x200", "EACCES", ""},
		{"mq_open 'backendtest CREAT|RDWR 0600 0", "EACCES", ""},
		{"mq_unlink 'backendtest", "EACCES", ""},
		// Typing into the caller's terminal. ioctl(2) looks at its descriptor
		// first, so that the errno (ENOTTY otherwise) shows who refused.
		{"ioctl 0 0x5412 x:61", "EPERM", ""},       // TIOCSTI
		{"ioctl 0 0x541c x:02", "EPERM", ""},       // TIOCLINUX
		{"ioctl 0 0x5423 x:00000000", "EPERM", ""}, // TIOCSETD
		{"ioctl 0 0xf00005412 x:61", "EPERM", ""},
		{"personality 0x0400000", "EPERM", ""}, // READ_IMPLIES_EXEC
		{"personality 0x0100000", "EPERM", ""}, // MMAP_PAGE_ZERO
		{"personality 0xffffffff", "OK", ""},
		{"personality 0x0040000", "OK", ""}, // ADDR_NO_RANDOMIZE
		{"memfd_create 'x 0", "OK", ""},
		{"setuid " + other(os.Getuid()), "EPERM", ""},
		{"setuid 0", "EPERM", ""},
	}
	w.tryAll(w.policyFlags(), as)
	t.Run("accepted", func(t *testing.T) {
		// What the policy accepts is open: the refusals above are the filter's.
		w.tryAll(w.policyFlags("--accept", "process.ipc"), []attempt{
			{"shmget 0 4096 0600|0x200", w.unconfined(strings.Fields("shmget 0 4096 0600|0x200"))[0].outcome, ""},
			{"semget 0 1 0600|0x200", w.unconfined(strings.Fields("semget 0 1 0600|0x200"))[0].outcome, ""},
		})
	})
}

// other is a uid that the tests do not run as.
func other(uid int) string { return fmt.Sprint(uid + 1) }

// TestForeignCalls: the 32-bit and x32 entries of the kernel have numbers of
// their own, so that a filter for the 64-bit ones says nothing of them.
func TestForeignCalls(t *testing.T) {
	w := newWorld(t)
	var ops [][]string
	for op := range foreignOperations() {
		ops = append(ops, []string{op})
	}
	if len(ops) == 0 {
		t.Skip("this architecture's kernel has one entry only, as far as these tests know")
	}
	free := w.unconfined(ops...)
	for i, r := range w.inside(w.policyFlags(), ops...) {
		want := "ENOSYS"
		if free[i].outcome == "fault" {
			want = "fault" // this kernel has no such entry at all
		}
		if r.outcome != want {
			t.Errorf("%s: %v, want %s (without a sandbox %v)", ops[i], r, want, free[i])
		}
	}
}

// TestSetuid: a setuid file gives nothing.
func TestSetuid(t *testing.T) {
	file := os.Getenv(setuidVariable)
	if file == "" {
		if os.Getuid() != 0 && os.Getenv(roleVariable) == "" {
			t.Skipf("only root can make a file that is setuid root, and these tests were started as uid %d; no_new_privs is in TestPosture", os.Getuid())
		}
		t.Fatal("no setuid file was prepared")
	}
	w := newWorld(t)
	own := fmt.Sprint(os.Getuid())
	ids := words("ids", "")
	r := replies(t, finish(t, w.sandbox(w.policyFlags("--read", file), file, probeArg, ids[0])), 1)[0]
	if want := own + " " + own + " " + own; !strings.HasPrefix(r.detail, want+" ") {
		t.Errorf("inside, the setuid file runs with the uids %s, want %s", r.detail, want)
	}
	free := w.sandbox(nil, file)
	free.Path, free.Args = file, []string{file, probeArg, ids[0]}
	if r := replies(t, finish(t, free), 1)[0]; !strings.HasPrefix(r.detail, own+" 0 0 ") {
		t.Errorf("without a sandbox it runs with the uids %s, want %s 0 0: nothing is proven", r.detail, own)
	}
}
