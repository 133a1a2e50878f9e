// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// utime, utimes, futimesat, utimensat: fs/utimes.c. The times are copied
// before the path is.

func utimensat(t *task) syscall.Errno {
	times, errno := t.copyTimes(t.args[2])
	if errno != 0 {
		return errno
	}
	if times != nil && times[0].Nsec == sys.TimeOmit && times[1].Nsec == sys.TimeOmit {
		return 0 // the kernel does not even look at the path then
	}
	return t.changeTimes(t.reg(0), 1, t.reg(3), times)
}

// futimesat takes microseconds.
func futimesat(t *task) syscall.Errno { return t.microTimes(t.reg(0), 1) }

func utimes(t *task) syscall.Errno { return t.microTimes(sys.AtCWD, 0) }

func (t *task) microTimes(dir int32, path int) syscall.Errno {
	times, errno := t.copyTimes(t.args[path+1])
	if errno != 0 {
		return errno
	}
	if times != nil {
		for i := range times {
			if times[i].Nsec < 0 || times[i].Nsec >= 1e6 {
				return syscall.EINVAL
			}
			times[i].Nsec *= 1e3
		}
	}
	return t.changeTimes(dir, path, 0, times)
}

// utime takes whole seconds.
func utime(t *task) syscall.Errno {
	var times *sys.Times
	if t.args[1] != 0 {
		b, errno := t.copyBytes(t.args[1], 16)
		if errno != 0 {
			return errno
		}
		v := words(b)
		times = &sys.Times{{Sec: v[0]}, {Sec: v[1]}}
	}
	return t.changeTimes(sys.AtCWD, 0, 0, times)
}

// copyTimes copies two pairs of seconds and a fraction, nil for a null
// pointer. struct timespec and struct timeval have the same shape here.
func (t *task) copyTimes(addr uint64) (*sys.Times, syscall.Errno) {
	if addr == 0 {
		return nil, 0
	}
	b, errno := t.copyBytes(addr, 32)
	if errno != 0 {
		return nil, errno
	}
	v := words(b)
	return &sys.Times{{Sec: v[0], Nsec: v[1]}, {Sec: v[2], Nsec: v[3]}}, 0
}

// changeTimes goes on as do_utimes does: without a path dir is the object.
func (t *task) changeTimes(dir int32, path int, flags int32, times *sys.Times) syscall.Errno {
	do := func(o *object) syscall.Errno { return sys.ChangeTimes(o.fd, times) }
	if t.args[path] == 0 && dir != sys.AtCWD {
		if flags != 0 {
			return syscall.EINVAL
		}
		return t.change(target{dir: dir, how: descriptor}, do)
	}
	how, errno := atFlags(flags)
	if errno != 0 {
		return errno
	}
	on, errno := t.path(dir, path, how)
	if errno != 0 {
		return errno
	}
	return t.change(on, do)
}
