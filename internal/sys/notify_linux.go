// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Notification is a system call that waits for a supervisor's answer (struct
// seccomp_notif and seccomp_data, linux/seccomp.h).
type Notification struct {
	// ID names the call in answers and checks. It is never used again.
	ID uint64
	// TID is the calling thread as this process numbers threads, 0 if it is
	// in no pid namespace that this process sees.
	TID   uint32
	flags uint32
	// Nr is the call's number, Arch the AUDIT_ARCH_* that it belongs to.
	Nr   int32
	Arch uint32
	ip   uint64
	Args [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// NotifyBuffer holds a notification and its answer. The kernel's structures
// may be longer than the ones known here; it then writes and reads to their
// end, so they get the room that it asks for (seccomp_unotify(2), "Design
// goals", SECCOMP_GET_NOTIF_SIZES).
type NotifyBuffer struct {
	in  []uint64 // uint64 for the alignment
	out []uint64
}

// NewNotifyBuffer makes a buffer for the running kernel. The error is that of
// SeccompNotifSizes.
func NewNotifyBuffer() (*NotifyBuffer, error) {
	s, err := SeccompNotifSizes()
	if err != nil {
		return nil, err
	}
	words := func(kernel uint16, ours uintptr) int { return (max(int(kernel), int(ours)) + 7) / 8 }
	return &NotifyBuffer{
		in:  make([]uint64, words(s.Notif, unsafe.Sizeof(Notification{}))),
		out: make([]uint64, words(s.Resp, unsafe.Sizeof(response{}))),
	}, nil
}

// Receive takes the next notification off the listener, and blocks while
// there is none. The result is valid until the next Receive.
//
// ENOENT: the caller was killed in the meantime, or (Linux 6.11 and later)
// nobody is left who could call.
func (b *NotifyBuffer) Receive(listener int) (*Notification, error) {
	for {
		clear(b.in) // EINVAL otherwise (seccomp_notify_recv in kernel/seccomp.c)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV,
			uintptr(unsafe.Pointer(&b.in[0])))
		switch errno {
		case 0:
			return (*Notification)(unsafe.Pointer(&b.in[0])), nil
		case unix.EINTR: // nothing was taken
		default:
			return nil, os.NewSyscallError("ioctl(SECCOMP_IOCTL_NOTIF_RECV)", errno)
		}
	}
}

// Answer ends the call that waits: with errno, or with value if that is 0.
// ENOENT: the caller is gone.
func (b *NotifyBuffer) Answer(listener int, id uint64, value int64, errno syscall.Errno) error {
	clear(b.out)
	*(*response)(unsafe.Pointer(&b.out[0])) = response{id: id, value: value, errno: -int32(errno)}
	return b.send(listener)
}

// Continue lets the kernel run the call. It looks at the caller's memory and
// descriptors again, so it must never stand for "this was checked"
// (seccomp_unotify(2), "NOTES").
func (b *NotifyBuffer) Continue(listener int, id uint64) error {
	clear(b.out)
	*(*response)(unsafe.Pointer(&b.out[0])) = response{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	return b.send(listener)
}

func (b *NotifyBuffer) send(listener int) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND,
			uintptr(unsafe.Pointer(&b.out[0])))
		switch errno {
		case 0:
			return nil
		case unix.EINTR: // waiting for a lock was interrupted; nothing was sent
		default:
			return os.NewSyscallError("ioctl(SECCOMP_IOCTL_NOTIF_SEND)", errno)
		}
	}
}

// NotificationValid returns nil while the caller still waits for the answer.
// Until then its thread id can't have passed to another thread.
func NotificationValid(listener int, id uint64) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_ID_VALID,
			uintptr(unsafe.Pointer(&id)))
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return os.NewSyscallError("ioctl(SECCOMP_IOCTL_NOTIF_ID_VALID)", errno)
		}
	}
}

// Wakeup is why WaitNotification returned.
type Wakeup struct {
	// Pending: a call waits to be received.
	Pending bool
	// Deserted: no process is left that the listener's filter applies to
	// (EPOLLHUP, Linux 5.9, commit 99cdb8b9a573 "seccomp: notify about
	// unused filter").
	Deserted bool
	// Stopped: stop became readable.
	Stopped bool
}

// WaitNotification waits until one of these holds, for ever if need be.
// Receive itself can't be told to stop, and before Linux 6.11 does not notice
// that nobody is left.
func WaitNotification(listener, stop int) (Wakeup, error) {
	fds := [2]unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds[:], -1)
		switch err {
		case nil:
			return Wakeup{
				Pending:  fds[0].Revents&unix.POLLIN != 0,
				Deserted: fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0,
				Stopped:  fds[1].Revents != 0,
			}, nil
		case unix.EINTR:
		default:
			return Wakeup{}, os.NewSyscallError("poll", err)
		}
	}
}

// NewWakeFD returns an event descriptor, and Wake makes it readable for ever
// (eventfd(2)).
func NewWakeFD() (int, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return fd, os.NewSyscallError("eventfd", err)
}

// Wake makes a descriptor of NewWakeFD readable.
func Wake(fd int) error {
	one := [8]byte{0: 1, 7: 1} // not zero in either byte order
	_, err := unix.Write(fd, one[:])
	return os.NewSyscallError("write", err)
}
