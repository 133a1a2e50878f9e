// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// somebody is a uid that owns nothing but what these tests give it.
const somebody = ordinaryID - 2

// TestRootConfined: root's command has no more than any other's.
func TestRootConfined(t *testing.T) {
	w := newWorld(t)
	for _, place := range []string{"work/o", "read/o", "outside/o"} {
		makeObjects(t, w.at(place))
	}
	w.write("work/theirs", "content")
	w.must(os.Chown(w.at("work/theirs"), somebody, somebody))
	w.write("work/closed", "content")
	w.must(os.Chown(w.at("work/closed"), somebody, somebody))
	w.must(os.Chmod(w.at("work/closed"), 0o600))
	before := exact(t, w.at("read")) + exact(t, w.at("outside")) + exact(t, "/etc/hostname")
	w.tryAll(w.policyFlags(), []attempt{
		{"put %work/o/f WRONLY new", "OK", ""},
		{"fchmodat AT '%work/o/f 0600", "OK", ""},
		{"get %read/o/f", "OK", "content"},
		{"put %read/o/f WRONLY new", "EACCES", ""},
		{"fchmodat AT '%read/o/f 0600", "EACCES", ""},
		{"fchownat AT '%read/o/f 1 1 0", "EACCES", ""},
		{"get %outside/o/f", "EACCES", ""},
		{"put %outside/o/f WRONLY new", "EACCES", ""},
		{"fchmodat AT '%outside/o/f 0600", "EACCES", ""},
		{"unlinkat AT '%outside/o/f 0", "EACCES", ""},
		{"get /etc/shadow", "EACCES", ""},
		{"put /etc/hostname WRONLY x", "EACCES", ""},
		{"mkdirat AT '/root/ambit-backendtest 0755", "EACCES", ""},
		// No capability is left, and the broker has none for it either.
		{"get %work/closed", "EACCES", ""},
		{"fchmodat AT '%work/theirs 0600", "EPERM", ""},
		{"fchownat AT '%work/theirs 0 0 0", "EPERM", ""},
		{"fchownat AT '%work/o/x 1 1 0", "EPERM", ""},
		{"utimensat AT '%work/theirs x:" + year2001 + year2001 + " 0", "EPERM", ""},
		{"setxattr '%work/theirs 'user.new x:61 1 0", "EACCES", ""},
		{"setxattr '%work/o/x 'security.capability x:0100000200000000000000000000000000000000 20 0", "EPERM", ""},
		{"setxattr '%work/o/x 'trusted.new x:61 1 0", "EPERM", ""},
		{"mknodat AT '%work/device CHR|0600 0x103", "EPERM", ""},
		{"mknodat AT '%work/disk BLK|0600 0x100", "EPERM", ""},
		{"setuid " + fmt.Sprint(somebody), "EPERM", ""},
		{"chroot '%", "EPERM", ""},
		{"mount 'none '% 'tmpfs 0 0", "EPERM", ""},
		{"mount '% '% 0 0x1000 0", "EPERM", ""},
		{"unshare 0x00020000", "EPERM", ""},
		{"setns </proc/self/ns/mnt 0", "EPERM", ""},
		{"sethostname 'x 1", "EPERM", ""},
		{"syslog 10 0 0", "EPERM", ""},
		{"bpf 0 #120 120", "EPERM", ""},
		{"reboot 0 0 0 0", "EPERM", ""},
		{"write-to /proc/sys/kernel/hostname x", "EACCES", ""},
		{"write-to /proc/self/oom_score_adj 0", "EACCES", ""},
		{"socket 2 3 1", "EACCES", ""},
		{"socket 17 3 0", "EACCES", ""},
		{"prlimit64 1 4 x:00000000000000000000000000000000 0", "EPERM", ""},
		{"ptrace 0x4206 1 0 0", "EPERM", ""},
		{"get /proc/1/environ", "EACCES", ""},
	})
	if after := exact(t, w.at("read")) + exact(t, w.at("outside")) + exact(t, "/etc/hostname"); after != before {
		t.Errorf("something changed:\n%s\nbefore:\n%s", after, before)
	}
	if fileExists("/root/ambit-backendtest") {
		t.Error("a folder was made in root's home")
		_ = os.Remove("/root/ambit-backendtest")
	}
}

// TestRootPosture: the same list as for everybody, and an empty bounding set.
func TestRootPosture(t *testing.T) { TestPosture(t) }

// TestRootSignal: root's command reaches nobody's processes, not even those of
// others.
func TestRootSignal(t *testing.T) {
	w := newWorld(t)
	own, theirs := w.startVictim(), exec.Command("/bin/sleep", "600")
	theirs.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
	start(t, theirs)
	for _, v := range []*exec.Cmd{own, theirs} {
		for _, op := range []string{"kill PID 9", "pidfd-signal PID 9", "ptrace 16 PID 0 0"} {
			if r := w.inside(w.policyFlags(), strings.Fields(strings.ReplaceAll(op, "PID", fmt.Sprint(v.Process.Pid))))[0]; r.outcome != "EPERM" {
				t.Errorf("%s: %v, want EPERM", op, r)
			}
		}
		if !w.alive(v) {
			t.Error("it is dead")
		}
	}
}

// TestRootTree: what ends with the command, and when ambit is killed, for root
// too.
func TestRootTree(t *testing.T) { TestKilled(t) }

// TestRootWithoutProc: as TestWithoutProc, which may not have been able to.
func TestRootWithoutProc(t *testing.T) {
	w := newWorld(t)
	w.refusesAs(func(cmd *exec.Cmd) *exec.Cmd {
		cmd = through(t, "without-proc")(cmd)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		return cmd
	}, w.policyFlags(), "SANDBOX_UNAVAILABLE", "/proc")
}

// TestRootOwnedParent: an ordinary user's working directory below a folder of
// root's that he may pass and not list.
func TestRootOwnedParent(t *testing.T) {
	w := newWorld(t)
	w.must(os.Chmod(filepath.Dir(w.dir), 0o755)) // the testing package closes it
	w.must(os.MkdirAll(w.at("outside/parent/dir"), 0o755))
	w.must(os.Chown(w.at("outside/parent/dir"), somebody, somebody))
	w.must(os.Chmod(w.at("outside/parent"), 0o711))
	cmd := w.sandbox(w.policyFlags("--private-tmp=false"), probeArgs(t, [][]string{
		{"put", "f", "WRONLY|CREAT", "content"}, {"get", w.at("outside/parent/dir/f")}, {"fchmodat", "AT", "'f", "0600"}, {"list", "."},
		{"list", ".."}, {"put", "../f", "WRONLY|CREAT", "content"}, {"fchmodat", "AT", "'..", "0777"},
	})...)
	cmd.Dir = w.at("outside/parent/dir")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody}}
	var got []string
	for _, r := range replies(t, finish(t, cmd), 7) {
		got = append(got, r.outcome)
	}
	if s := strings.Join(got, " "); s != "OK OK OK OK EACCES EACCES EACCES" {
		t.Errorf("%s", s)
	}
}
