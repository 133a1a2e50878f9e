// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestWatch: a folder that may be read tells of its files, a closed one does
// not, by whichever way it is named.
func TestWatch(t *testing.T) {
	f := makeFolders(t)
	closed := filepath.Join(filepath.Dir(f.w), "none")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../none", f.w+"/link"); err != nil {
		t.Fatal(err)
	}
	s, b := startBrokered(t, f.options(t), "calls", nil)
	s.makeBuffer(t)
	fd := int(s.call(t, syscall.SYS_INOTIFY_INIT1, syscall.O_NONBLOCK).Value)
	pinned := s.open(t, closed, oPath)
	watch := func(path string, mask int) outcome {
		return s.call(t, syscall.SYS_INOTIFY_ADD_WATCH, fd, str(path), mask)
	}
	for _, path := range []string{
		closed, f.w + "/link", f.w + "/../none", "/proc/self/fd/" + strconv.Itoa(pinned), filepath.Dir(f.w), "/",
	} {
		before := refusals(b)
		if o := watch(path, syscall.IN_CREATE); o.Errno != syscall.EACCES {
			t.Errorf("%s: %v", path, o)
		}
		if n := refusals(b) - before; n != 1 {
			t.Errorf("%s: %d denials", path, n)
		}
	}
	if o := watch(f.w+"/link", syscall.IN_CREATE|syscall.IN_DONT_FOLLOW); o.Errno != 0 {
		t.Errorf("the link itself, which may be read: %v", o)
	}
	for _, dir := range []string{f.w, f.r} {
		if o := watch(dir, syscall.IN_CREATE); o.Errno != 0 {
			t.Errorf("%s: %v", dir, o)
		}
	}
	for _, dir := range []string{closed, f.r, f.w} {
		if err := os.WriteFile(dir+"/made in "+filepath.Base(dir), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := s.call(t, syscall.SYS_READ, fd, bufferAt, 4096)
	events := s.look(t, bufferAt, int(max(o.Value, 0)))
	for name, want := range map[string]bool{"made in r": true, "made in w": true, "made in none": false} {
		if bytes.Contains(events, []byte(name)) != want {
			t.Errorf("an event says %q: %v\n%q", name, !want, events)
		}
	}
}

// TestWatchSameAsNative makes the same random calls on inotify twice, and
// compares each result and each event.
func TestWatchSameAsNative(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	twins, b := startTwins(t)
	for _, w := range twins {
		for _, fd := range []int{50, 51} {
			o := w.call(t, syscall.SYS_INOTIFY_INIT1, syscall.O_NONBLOCK)
			w.call(t, syscall.SYS_DUP3, int(o.Value), fd, 0)
			w.close(t, int(o.Value))
		}
	}
	silent := 0
	if !kernelIs(t, 6, 10) { // O_PATH descriptors told of their opening and closing until then
		silent = syscall.IN_OPEN | syscall.IN_CLOSE
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	var watches, events, failures int
	for i, end := 0, time.Now().Add(patient); i < 6000 && time.Now().Before(end); i++ {
		c := randomWatch(rng, twins[0], silent)
		var got [2]outcome
		var said [2][]byte
		refused := false
		for j := 1; j >= 0 && !refused; j-- { // a watch that one does not get the other shall not have
			w := twins[j]
			got[j] = w.call(t, c.nr, c.args(w)...)
			if c.nr == syscall.SYS_READ && got[j].Errno == 0 {
				said[j] = plainEvents(w.look(t, bufferAt, int(got[j].Value)))
			}
			refused = elsewhere(b) && got[j].Errno == syscall.EACCES
		}
		if refused {
			continue
		}
		if got[0] != got[1] || !bytes.Equal(said[0], said[1]) {
			t.Errorf("call %d, %s: native %v %q, brokered %v %q", i, c.text, got[0], said[0], got[1], said[1])
			if failures++; failures > 10 {
				t.FailNow()
			}
		}
		if got[0].Errno == 0 && c.nr == syscall.SYS_INOTIFY_ADD_WATCH {
			watches++
		}
		events += len(said[0]) / 16
	}
	t.Logf("%d watches, about %d events", watches, events)
	if watches < 200 || events < 200 {
		t.Errorf("%d watches and about %d events: this compares little", watches, events)
	}
}

// plainEvents leaves the cookies out, which count for the whole kernel
// (inotify(7), struct inotify_event).
func plainEvents(b []byte) []byte {
	for at := 0; at+16 <= len(b); at += 16 + int(binary.NativeEndian.Uint32(b[at+12:])) {
		clear(b[at+8 : at+12])
	}
	return b
}

// randomWatch returns a call that adds a watch, removes one, causes events, or
// reads them.
func randomWatch(rng *rand.Rand, w *twin, silent int) randomly {
	d := throw(rng, w.fds)
	instance := d.pick(50, 50, 50, 50, 50, 51, 51, 30, 34, 42, 999, -1)
	mask := d.pick(0xfff, 0x100, 0x302, 0x4, 0, 0x400, 1<<20, 0x2000) &^ silent
	for _, flag := range []int{syscall.IN_ONLYDIR, syscall.IN_DONT_FOLLOW, 0x04000000, 0x10000000, 0x20000000, 0x40000000, 0x80000000} {
		if d.IntN(5) == 0 { // IN_EXCL_UNLINK, IN_MASK_CREATE, IN_MASK_ADD, unused, IN_ONESHOT
			mask |= flag
		}
	}
	where := str(d.pickName("new", "d/new", "d/e/new"))
	options := []randomly{
		{syscall.SYS_INOTIFY_ADD_WATCH, "inotify_add_watch", func(w *twin) []any { return []any{instance, d.path(w), mask} }},
		{syscall.SYS_INOTIFY_ADD_WATCH, "inotify_add_watch", func(w *twin) []any { return []any{instance, d.path(w), mask} }},
		{syscall.SYS_INOTIFY_ADD_WATCH, "inotify_add_watch", func(w *twin) []any { return []any{instance, d.path(w), mask} }},
		{syscall.SYS_INOTIFY_RM_WATCH, "inotify_rm_watch", func(*twin) []any { return []any{instance, 1 + d.mode%9} }},
		{syscall.SYS_MKDIRAT, "mkdirat", func(*twin) []any { return []any{atFDCWD, where, 0o755} }},
		{syscall.SYS_UNLINKAT, "unlinkat", func(*twin) []any { return []any{atFDCWD, where, 0x200} }},
		{syscall.SYS_FCHMODAT, "fchmodat", func(*twin) []any { return []any{atFDCWD, str("d/f"), 0o644} }},
		{syscall.SYS_READ, "read", func(*twin) []any { return []any{d.pick(50, 51), bufferAt, 4096} }},
	}
	c := options[rng.IntN(len(options))]
	args := c.args
	if c.nr == syscall.SYS_READ { // the same for both twins
		fixed := args(w)
		c.args = func(*twin) []any { return fixed }
	}
	c.text += ": instance " + strconv.Itoa(instance) + ", mask " + strconv.FormatInt(int64(mask), 16) + ", " + d.String()
	return c
}
