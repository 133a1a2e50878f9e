// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestWatch: "read" covers the names that inotify tells. No Landlock right does.
func TestWatch(t *testing.T) {
	w := newWorld(t)
	for _, place := range []string{"work", "read", "outside"} {
		makeObjects(t, w.at(place+"/o"))
	}
	w.tryControlled(readAttempts("watch %d", "in"))
}

// TestAttributes: "read" covers extended attributes. No Landlock right does.
func TestAttributes(t *testing.T) {
	w := newWorld(t)
	for _, place := range []string{"work", "read", "outside"} {
		makeObjects(t, w.at(place+"/o"))
	}
	err := syscall.Setxattr(w.at("work/o/f"), keptAttribute, []byte("kept"), 0)
	if errors.Is(err, syscall.EOPNOTSUPP) { // tmpfs before Linux 6.6
		t.Skip("this file system has no user attributes")
	}
	w.must(err)
	var as []attempt
	for _, op := range []string{
		"getxattr '%f 'user.kept #16 16", "lgetxattr '%f 'user.kept #16 16", "fgetxattr <%f 'user.kept #16 16",
		"getxattr '%l 'user.kept #16 16", "get-mode-3 %f user.kept",
	} {
		as = append(as, readAttempts(op, "4")...)
	}
	for _, op := range []string{"listxattr '%f 0 0", "llistxattr '%f #99 99", "flistxattr <%f 0 0", "listxattr '%l 0 0"} {
		as = append(as, readAttempts(op, "10")...)
	}
	for _, op := range []string{"getxattrat AT '%f 0 'user.kept #16 16", "listxattrat AT '%f 0 0 0"} {
		for _, a := range readAttempts(op, "") {
			as = append(as, attempt{op: a.op, want: "ENOSYS"})
		}
	}
	w.tryControlled(as)
}

// tryControlled makes the attempts, and each that is refused without a sandbox
// too.
func (w *world) tryControlled(as []attempt) {
	w.Helper()
	w.tryAll(w.policyFlags(), as)
	var control [][]string
	for _, a := range as {
		if a.want == "EACCES" {
			control = append(control, words(a.op, w.dir))
		}
	}
	for i, r := range w.unconfined(control...) {
		if r.outcome != "OK" {
			w.Errorf("no control: %q without a sandbox: %s (%s)", control[i], r.outcome, r.detail)
		}
	}
}

// readAttempts is an operation on the objects of each place.
func readAttempts(op, detail string) []attempt {
	var as []attempt
	for _, place := range []string{"work", "read"} {
		as = append(as, attempt{strings.ReplaceAll(op, "%", "%"+place+"/o/"), "OK", detail})
	}
	return append(as, attempt{strings.ReplaceAll(op, "%", "%outside/o/"), "EACCES", ""})
}

// getModeThree NAME ATTRIBUTE: by a descriptor that gives no access.
func getModeThree(a []string) (string, error) {
	fd, err := syscall.Open(a[0], syscall.O_ACCMODE, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = syscall.Close(fd) }()
	return callNumber("fgetxattr", []string{strconv.Itoa(fd), "'" + a[1], "#16", "16"})
}

// watch NAME: a folder, and says what it is told when a file in it is opened.
func watch(a []string) (string, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		return "", err
	}
	defer func() { _ = syscall.Close(fd) }()
	if _, err := syscall.InotifyAddWatch(fd, a[0], syscall.IN_OPEN); err != nil {
		return "", err
	}
	if err := closeAfter(syscall.Open(a[0]+"/in", syscall.O_RDONLY, 0)); err != nil {
		return "", err
	}
	buf := make([]byte, 4096)
	n, err := syscall.Read(fd, buf)
	if err != nil {
		return "", err
	}
	const header = 16 // struct inotify_event, inotify(7)
	return strings.TrimRight(string(buf[header:n]), "\x00"), nil
}

func closeAfter(fd int, err error) error {
	if err == nil {
		err = syscall.Close(fd)
	}
	return err
}
