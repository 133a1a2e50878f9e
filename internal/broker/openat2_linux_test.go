// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

// openHowOf is a struct open_how, and what a newer kernel might know more of.
func openHowOf(flags, mode, resolve uint64, more ...byte) memory {
	var b []byte
	for _, w := range []uint64{flags, mode, resolve} {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return append(b, more...)
}

// randomOpenat2 opens under restrictions on the way, now and then wrongly.
func randomOpenat2(rng *rand.Rand, dir int, name string, mode int) operation {
	pick := func(list ...uint64) uint64 { return list[rng.IntN(len(list))] }
	flags := syscall.O_NONBLOCK | pick(uint64(os.O_RDONLY), uint64(os.O_WRONLY), uint64(os.O_RDWR)) |
		pick(0, syscall.O_CREAT, syscall.O_CREAT, syscall.O_CREAT|syscall.O_EXCL, syscall.O_TRUNC, syscall.O_NOFOLLOW, syscall.O_DIRECTORY, syscall.O_CLOEXEC, 0x20, 1<<40, oPath)
	// RESOLVE_CACHED (0x20) may fail at any time.
	resolve := pick(0, 0, 1, 2, 4, 4, 8, 8, 16, 16, 24, 12, 1<<6)
	made := uint64(0)
	if flags&syscall.O_CREAT != 0 || rng.IntN(12) == 0 {
		made = uint64(mode)
	}
	how := openHowOf(flags, made, resolve, [][]byte{nil, nil, nil, make([]byte, 8), {0, 0, 0, 0, 0, 0, 0, 1}}[rng.IntN(5)]...)
	size := len(how)
	if rng.IntN(20) == 0 {
		size = 20
	}
	return operation{fmt.Sprintf("openat2 %d/%.40q %#x %o %#x, %d bytes", dir, name, flags, made, resolve, size), func(tb testing.TB, w *twin) string {
		tb.Helper()
		fd := w.call(tb, nrOpenat2, dir, w.named(name), how, size)
		if fd.Errno != 0 {
			return fd.String()
		}
		defer w.close(tb, int(fd.Value))
		written := w.call(tb, syscall.SYS_WRITE, int(fd.Value), memory("by two"), 6)
		inherit := w.call(tb, syscall.SYS_FCNTL, int(fd.Value), syscall.F_GETFD, 0)
		return fmt.Sprint(written, inherit)
	}, isBeyond(name)}
}

// TestOpenat2 looks at what the random sequences don't reach: the exception,
// and names that lead out of the folder they must stay beneath.
func TestOpenat2(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		p := makeProject(t)
		s, _ := startNested(t, hostTree(t, p.rules(kind)...), "calls")
		at := func(name string, flags, resolve uint64) syscall.Errno {
			mode := uint64(0)
			if flags&syscall.O_CREAT != 0 {
				mode = 0o600
			}
			o := s.call(t, nrOpenat2, atFDCWD, str(name), openHowOf(flags, mode, resolve), openHowSize)
			if o.Errno == 0 {
				s.close(t, int(o.Value))
			}
			return o.Errno
		}
		if o := s.call(t, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
			t.Fatal(o)
		}
		const beneath, inRoot, noLinks = 8, 16, 4
		create := uint64(syscall.O_CREAT | syscall.O_WRONLY)
		for _, c := range []struct {
			name           string
			flags, resolve uint64
			want           syscall.Errno
		}{
			{"new", create, beneath, 0},
			{"new", syscall.O_RDWR, beneath, 0},
			{"/new2", create, inRoot, 0},
			{"/new2", create, beneath, syscall.EXDEV},
			{"../new3", create, beneath, syscall.EXDEV},
			{"dangling", create, noLinks, syscall.ELOOP},
			{"dangling", create, beneath, 0},
			{"git/config", syscall.O_WRONLY, 0, syscall.EACCES},
			{"git/config", syscall.O_WRONLY, beneath, syscall.EACCES},
			{"/git/config", syscall.O_WRONLY, inRoot, syscall.EACCES},
			{"git/config", syscall.O_WRONLY, noLinks, syscall.EACCES},
		} {
			if got := at(c.name, c.flags, c.resolve); got != c.want {
				t.Errorf("%s: openat2 %s %#x %#x: %v, want %v", kind, c.name, c.flags, c.resolve, got, c.want)
			}
		}
		for _, name := range []string{"/new", "/new2", "/a/later"} {
			if _, err := os.Stat(p.dir + name); err != nil {
				t.Error(err)
			}
		}
	}
}
