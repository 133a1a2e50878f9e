// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bell sends signals to single threads, each held by the kernel from the
// moment of Aim on: a number that is used again is no other thread's to it.
// It is the pipe's owner, who is told that there is something to read (fcntl(2),
// F_SETOWN_EX). tgkill(2) looks a number up at the moment of the call, and
// pidfds of threads came with Linux 6.9.
type Bell struct{ r, w int }

// ownerTID is F_OWNER_TID (asm-generic/fcntl.h).
const ownerTID = 0

// owner is struct f_owner_ex.
type owner struct{ kind, pid int32 }

// NewBell makes a bell that is aimed at nobody.
func NewBell() (*Bell, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	b := &Bell{p[0], p[1]}
	if _, err := unix.FcntlInt(uintptr(b.r), unix.F_SETFL, unix.O_NONBLOCK|unix.O_ASYNC); err != nil {
		b.Close()
		return nil, os.NewSyscallError("fcntl(O_ASYNC)", err)
	}
	return b, nil
}

// Aim takes hold of a thread. ESRCH: there is none.
func (b *Bell) Aim(tid int) syscall.Errno {
	return b.owner(unix.F_SETOWN_EX, &owner{ownerTID, int32(tid)})
}

// Aimed returns the number of the thread, 0 if it is gone (f_getown_ex in
// fs/fcntl.c, since Linux 5.12).
func (b *Bell) Aimed() int {
	var o owner
	if b.owner(unix.F_GETOWN_EX, &o) != 0 {
		return 0
	}
	return int(o.pid)
}

func (b *Bell) owner(cmd int, o *owner) syscall.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_FCNTL, uintptr(b.r), uintptr(cmd), uintptr(unsafe.Pointer(o)))
	return errno
}

// Ring sends a signal, which is pending when Ring returns: the writer sends
// it (pipe_write in fs/pipe.c, send_sigio_to_task in fs/fcntl.c).
func (b *Bell) Ring(sig int32) syscall.Errno {
	if _, err := unix.FcntlInt(uintptr(b.r), unix.F_SETSIG, int(sig)); err != nil {
		return errnoOf(err)
	}
	var one [1]byte
	if _, err := unix.Write(b.w, one[:]); err != nil {
		return errnoOf(err)
	}
	_, err := unix.Read(b.r, one[:])
	return errnoOf(err)
}

// Close ends the bell.
func (b *Bell) Close() {
	_ = unix.Close(b.r)
	_ = unix.Close(b.w)
}
