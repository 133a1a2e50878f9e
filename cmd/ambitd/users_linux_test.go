// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

// other is a user that is neither root nor this one, and need not exist.
const other = 64321

// dialAs connects as another user. The kernel notes who connects by the thread
// that does (unix(7), SO_PEERCRED), and identities are a thread's (setresuid
// without the C library's part, nptl(7)). The thread ends with its goroutine.
func dialAs(uid int, socket string) (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		id := uintptr(uid)
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, id, id, id); errno != 0 {
			err = os.NewSyscallError("setresuid", errno)
			return
		}
		conn, err = net.DialTimeout("unix", socket, patience)
	}()
	<-done
	return conn, err
}

// askAs sends a request as another user.
func askAs(t *testing.T, uid int, socket, q string) (*answer, error) {
	t.Helper()
	conn, err := dialAs(uid, socket)
	if err != nil {
		return nil, err
	}
	as := &service{t: t, base: "http://localhost", client: &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}}}
	return as.try(t.Context(), "POST", "/api/execute", q)
}

// TestAllowUIDs: a user that is listed is served over the socket, another one
// is refused by the service where it gets to it, and gets to none without the
// list.
func TestAllowUIDs(t *testing.T) {
	if os.Getuid() != 0 {
		_, err := dialAs(os.Getuid()+1, "/")
		if !errors.Is(err, syscall.EPERM) {
			t.Errorf("only root becomes another user: %v", err)
		}
		t.Skipf("user %d can't become another one: %v", os.Getuid(), err)
	}
	s := prepared(t)
	if err := os.Chmod(s.dir, 0o711); err != nil {
		t.Fatal(err)
	}
	q := body("echo hi; id -u", nil)
	s.start(map[string]any{"allow_uids": []int{other}})
	if a, err := askAs(t, other, s.dir+"/s/sock", q); err != nil || a.status != 200 || a.str("stdout") != "hi\n0\n" {
		t.Errorf("a listed user: %+v %v", a, err)
	}
	if a, err := askAs(t, other+1, s.dir+"/s/sock", q); err != nil || a.status != 403 || a.str("code") != "FORBIDDEN" {
		t.Errorf("another user: %+v %v", a, err)
	}
	if runs, _, err := journal.Read(s.dir + "/journal"); err != nil || len(runs) != 1 || runs[0].Who != fmt.Sprint("uid:", other) {
		t.Errorf("the journal: %d runs, %v", len(runs), err)
	}
	for name, want := range map[string]os.FileMode{"/s": 0o711, "/s/sock": 0o666} {
		if st, err := os.Stat(s.dir + name); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
	s.end(syscall.SIGTERM)
	// Without the list nobody else gets as far as that, in no folder that is
	// open to others.
	fails(t, s.config(nil), "mode 0700")
	if err := os.Chmod(s.dir+"/s", 0o700); err != nil {
		t.Fatal(err)
	}
	fails(t, s.config(map[string]any{"allow_uids": []int{other}}), "can't reach the socket", "chmod 711")
	s.start(nil)
	if a, err := askAs(t, other, s.dir+"/s/sock", q); !errors.Is(err, syscall.EACCES) {
		t.Errorf("no list: %+v %v", a, err)
	}
}
