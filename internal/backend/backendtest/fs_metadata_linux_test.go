// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Arguments in memory, as the kernel lays them out (little-endian).
const (
	// year2001 is a struct timespec, two make the times of utimensat(2).
	year2001 = "00ca9a3b000000000000000000000000"
	// readACL is an access ACL (linux/posix_acl_xattr.h, version 2): the owner
	// reads and writes, uid 1, the group and others read.
	readACL = "02000000" + "01000600ffffffff" + "0200040001000000" + "04000400ffffffff" + "10000400ffffffff" + "20000400ffffffff"
)

// TestMetadata: "write" covers modes, owners, times, attributes and ACLs. No
// Landlock right does.
func TestMetadata(t *testing.T) {
	own := fmt.Sprintf("%d %d", os.Getuid(), os.Getgid())
	changes := []change{
		{op: "fchmodat AT '%f 0600"},
		{op: "fchmodat AT '%f 0"},
		{op: "fchmodat AT '%x 04711"},
		{op: "fchmodat AT '%d 01777"},
		{op: "fchmodat AT '%p 0600"},
		{op: "fchmodat AT '%l 0600"},
		{op: "fchmodat <%d 'in 0600"},
		{op: "fchmodat <%d '../f 0600"},
		{op: "fchmod <%f 0600"},
		{op: "fchmod +%f 0600"},
		{op: "fchmod <%d 0700"},
		{op: "fchmod =%f 0600", read: "EBADF", outside: "EBADF"},
		{op: "fchmodat2 AT '%f 0600 0"},
		{op: "fchmodat2 AT '%f 0600 NOFOLLOWLINK"},
		{op: "fchmodat2 =%f ' 0600 EMPTY"},
		{op: "fchownat AT '%f " + own + " 0"},
		{op: "fchownat AT '%f -1 -1 0"},
		{op: "fchownat AT '%f 0 0 0"},
		{op: "fchownat AT '%l " + own + " NOFOLLOWLINK"},
		{op: "fchownat =%f ' " + own + " EMPTY"},
		{op: "fchown <%f " + own},
		{op: "fchown <%d " + own},
		{op: "utimensat AT '%f 0 0"},
		{op: "utimensat AT '%f x:" + year2001 + year2001 + " 0"},
		{op: "utimensat AT '%l x:" + year2001 + year2001 + " 0"},
		{op: "utimensat AT '%l x:" + year2001 + year2001 + " NOFOLLOWLINK"},
		{op: "utimensat AT '%d x:" + year2001 + year2001 + " 0"},
		{op: "utimensat <%f 0 x:" + year2001 + year2001 + " 0"},
		{op: "setxattr '%f 'user.new x:6162 2 0"},
		{op: "setxattr '%f 'user.new x:6162 2 1"},
		{op: "setxattr '%f 'user.new x:6162 2 2"},
		{op: "setxattr '%d 'user.new 0 0 0"},
		{op: "lsetxattr '%f 'user.new x:6162 2 0"},
		{op: "lsetxattr '%l 'user.new x:6162 2 0"},
		{op: "fsetxattr <%f 'user.new x:6162 2 0"},
		{op: "removexattr '%f '" + keptAttribute},
		{op: "removexattr '%l '" + keptAttribute},
		{op: "lremovexattr '%f '" + keptAttribute},
		{op: "fremovexattr <%f '" + keptAttribute},
		{op: "setxattr '%f 'system.posix_acl_access x:" + readACL + " 44 0"},
		{op: "setxattr '%d 'system.posix_acl_default x:" + readACL + " 44 0"},
		{op: "setxattr '%f 'trusted.new x:6162 2 0"},
		{op: "setxattr '%f 'security.capability x:0100000200000000000000000000000000000000 20 0"},
		// The oldest forms.
		{op: "chmod '%f 0600"},
		{op: "chown '%f " + own},
		{op: "lchown '%l " + own},
		{op: "utime '%f x:00ca9a3b0000000000ca9a3b00000000"},
		{op: "utimes '%f x:" + year2001 + year2001},
		{op: "futimesat AT '%f x:" + year2001 + year2001},
		// A filter can't hand a descriptor's ioctl on, and it works on what
		// was opened for reading: closed everywhere.
		{op: "ioctl <%f 0x40086602 #8", granted: "EPERM", read: "EPERM"},  // FS_IOC_SETFLAGS
		{op: "ioctl <%f 0x401c5820 #28", granted: "EPERM", read: "EPERM"}, // FS_IOC_FSSETXATTR
		// Their arguments are structures; callers fall back on the calls above.
		{op: "setxattrat AT '%f 0 'user.new x:00000000000000000000000000000000 16", granted: "ENOSYS", read: "ENOSYS", outside: "ENOSYS"},
		{op: "removexattrat AT '%f 0 '" + keptAttribute, granted: "ENOSYS", read: "ENOSYS", outside: "ENOSYS"},
		{op: "file_setattr AT '%f #32 32 0", granted: "ENOSYS", read: "ENOSYS", outside: "ENOSYS"},
	}
	tryChanges(t, changes)
}

// TestMetadataForms: the same file under every name that leads to it.
func TestMetadataForms(t *testing.T) {
	w := newWorld(t)
	var ops [][]string
	var want []string
	for _, place := range []struct{ name, want string }{{"work", "OK"}, {"read", "EACCES"}, {"outside", "EACCES"}} {
		for _, form := range w.forms(place.name) {
			ops = append(ops,
				[]string{"fchmodat", "AT", "'" + form, "0640"},
				[]string{"fchownat", "AT", "'" + form, "-1", fmt.Sprint(os.Getgid()), "0"},
				[]string{"utimensat", "AT", "'" + form, "x:" + year2001 + year2001, "0"})
			want = append(want, place.want, place.want, place.want)
		}
		for _, form := range pinnedForms {
			ops = append(ops, []string{"chmod-through", w.at(place.name + "/f"), form, "0640"})
			want = append(want, place.want)
		}
		ops = append(ops, []string{"fchmodat", "=" + w.at(place.name), "'f", "0640"}, []string{"fchmodat", "=" + w.at("work"), "'../" + place.name + "/f", "0640"})
		want = append(want, place.want, place.want)
	}
	before := map[string]string{"read": exact(t, w.at("read")), "outside": exact(t, w.at("outside"))}
	for i, r := range w.inside(w.policyFlags(), ops...) {
		t.Run(fmt.Sprintf("%q", ops[i]), func(t *testing.T) {
			if r.outcome != want[i] {
				t.Errorf("%s (%s), want %s", r.outcome, r.detail, want[i])
			}
		})
	}
	for place, was := range before {
		if now := exact(t, w.at(place)); now != was {
			t.Errorf("something changed in %q:\n%s\nbefore:\n%s", place, now, was)
		}
	}
	if now := effects(t, w.at("work")); !strings.Contains(now, `"f" mode 100640`) {
		t.Errorf("the write tree's file did not get its mode:\n%s", now)
	}
}

// TestMetadataHeld: what the command got as a descriptor it can't change by
// it, unless it is its own to write.
func TestMetadataHeld(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ op, want string }{
		{"fchmod 0 0600", "EACCES"},
		{"fchmodat AT '/proc/self/fd/0 0600", "EACCES"},
		{"fchown 0 -1 -1", "EACCES"},
		{"fsetxattr 0 'user.new x:61 1 0", "EACCES"},
		{"ftruncate 0 1", "EINVAL"}, // not open for writing
		{"ioctl 0 0x40086602 #8", "EPERM"},
	} {
		t.Run(c.op, func(t *testing.T) {
			name := w.write("outside/stdin", "content")
			before := exact(t, w.at("outside"))
			in, err := os.Open(name)
			w.must(err)
			defer func() { _ = in.Close() }()
			cmd := w.sandbox(w.policyFlags(), probeArgs(t, [][]string{strings.Fields(c.op)})...)
			cmd.Stdin = in
			if r := replies(t, finish(t, cmd), 1)[0]; r.outcome != c.want {
				t.Errorf("%s (%s), want %s", r.outcome, r.detail, c.want)
			}
			if after := exact(t, w.at("outside")); after != before {
				t.Errorf("the caller's stdin changed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
	t.Run("own temporary file", func(t *testing.T) {
		w.tryAll(w.policyFlags(), []attempt{
			{"memory 0600", "OK", "600"},
			{"pipe-mode 0600", "OK", "600"},
		})
	})
}
