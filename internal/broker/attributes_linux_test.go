// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// readWay is a call that reads attributes of a file by its path, or, with byFD,
// by a descriptor opened with flags.
type readWay struct {
	name  string
	nr    int
	list  bool
	byFD  bool
	flags int
	// through: the descriptor is named by its link in /proc.
	through bool
}

var readWays = []readWay{
	{name: "getxattr", nr: syscall.SYS_GETXATTR},
	{name: "lgetxattr", nr: syscall.SYS_LGETXATTR},
	{name: "listxattr", nr: syscall.SYS_LISTXATTR, list: true},
	{name: "llistxattr", nr: syscall.SYS_LLISTXATTR, list: true},
	{name: "fgetxattr of mode 3", nr: syscall.SYS_FGETXATTR, byFD: true, flags: syscall.O_ACCMODE},
	{name: "flistxattr of mode 3", nr: syscall.SYS_FLISTXATTR, byFD: true, flags: syscall.O_ACCMODE, list: true},
	{name: "getxattr of mode 3", nr: syscall.SYS_GETXATTR, byFD: true, flags: syscall.O_ACCMODE, through: true},
	{name: "getxattr of O_PATH", nr: syscall.SYS_GETXATTR, byFD: true, flags: oPath, through: true},
	{name: "listxattr of O_PATH", nr: syscall.SYS_LISTXATTR, byFD: true, flags: oPath, through: true, list: true},
}

// readAttribute makes the call with a buffer of size bytes.
func (s *subject) readAttribute(tb testing.TB, w readWay, name string, size int) outcome {
	tb.Helper()
	var object any = str(name)
	if w.byFD {
		fd := s.open(tb, name, w.flags)
		defer s.close(tb, fd)
		object = fd
		if w.through {
			object = str("/proc/self/fd/" + strconv.Itoa(fd))
		}
	}
	if w.list {
		return s.call(tb, w.nr, object, bufferAt, size)
	}
	return s.call(tb, w.nr, object, str("user.kept"), bufferAt, size)
}

// TestAttributes reads of a writable, a readable, and a closed file in every
// way: nothing of the closed one reaches the caller, not even how much it is.
func TestAttributes(t *testing.T) {
	f := makeFolders(t)
	closed := filepath.Join(filepath.Dir(f.w), "none")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	s, b := startBrokered(t, f.options(t), "calls", nil)
	s.makeBuffer(t)
	for _, dir := range []string{f.w, f.r, closed} {
		freshFile(t, dir, 0)
	}
	lacks := stateOf(t, file(f.w, 0)).Attributes["user.kept"] == "" // tmpfs before Linux 6.6
	for _, w := range readWays {
		t.Run(w.name, func(t *testing.T) {
			want := "kept"
			if w.list {
				want = "user.kept\x00"
			}
			for _, dir := range []string{f.w, f.r} {
				s.wipe(t)
				o := s.readAttribute(t, w, file(dir, 0), 100)
				got := string(s.look(t, bufferAt, len(want)))
				if !lacks && (o.Errno != 0 || o.Value != int64(len(want)) || got != want) {
					t.Errorf("in %s: %v, %q", dir, o, got)
				}
			}
			for _, size := range []int{0, 1, 100} {
				s.wipe(t)
				blank, before := s.remains(t), refusals(b)
				if o := s.readAttribute(t, w, file(closed, 0), size); o.Errno != syscall.EACCES {
					t.Errorf("closed, size %d: %v", size, o)
				}
				if !bytes.Equal(blank, s.remains(t)) {
					t.Errorf("closed, size %d: memory was written", size)
				}
				if n := refusals(b) - before; n != 1 {
					t.Errorf("closed, size %d: %d denials", size, n)
				}
			}
		})
	}
	list, _ := b.Denials()
	if len(list) == 0 || list[0].Call != "getxattr" || list[0].Object != file(closed, 0) || list[0].Errno != "EACCES" {
		t.Errorf("denials %+v", list)
	}
}

func refusals(b *Broker) int {
	list, dropped := b.Denials()
	return denial.Total(list) + dropped
}

// TestHeldAttributes: what came open for reading is granted, wherever it is.
func TestHeldAttributes(t *testing.T) {
	f := makeFolders(t)
	closed := filepath.Join(filepath.Dir(f.w), "none")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	freshFile(t, closed, 0)
	name := file(closed, 0)
	inherited := []*os.File{openFile(t, name, os.O_RDONLY), openFile(t, name, os.O_WRONLY), openFile(t, name, oPath), openFile(t, name, syscall.O_ACCMODE)}
	s, _ := startBrokered(t, f.options(t), "calls", inherited)
	for i, want := range []struct{ byFD, byPath syscall.Errno }{
		{0, 0}, {0, 0}, {syscall.EBADF, syscall.EACCES}, {syscall.EACCES, syscall.EACCES},
	} {
		fd := 3 + i
		if o := s.call(t, syscall.SYS_FLISTXATTR, fd, 0, 0); o.Errno != want.byFD {
			t.Errorf("descriptor %d: %v, not %v", fd, o, want.byFD)
		}
		if o := s.call(t, syscall.SYS_LISTXATTR, str("/proc/self/fd/"+strconv.Itoa(fd)), 0, 0); o.Errno != want.byPath {
			t.Errorf("descriptor %d by path: %v, not %v", fd, o, want.byPath)
		}
	}
}

// TestReadsSameAsNative makes the same random calls on attributes twice, as
// TestSameAsNative does, and compares what they return and what they leave in
// the caller's memory.
func TestReadsSameAsNative(t *testing.T) {
	if !kernelIs(t, 6, 13) {
		t.Skip("the kernel finds two errors of one call in another order before Linux 6.13")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	twins, broker := startTwins(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	successes, calls, failures := 0, 0, 0
	for end := time.Now().Add(patient); calls < 6000 && time.Now().Before(end); calls++ {
		if calls%100 == 0 {
			for _, w := range twins {
				reopen(t, w.dir)
			}
		}
		c := randomRead(rng, twins[0])
		var got [2]outcome
		var memories [2][]byte
		for i, w := range twins {
			w.wipe(t)
			got[i] = w.call(t, c.nr, c.args(w)...)
			memories[i] = w.remains(t)
		}
		refused := elsewhere(broker)
		if got[0] != got[1] && !(got[1].Errno == syscall.EACCES && refused) {
			t.Errorf("call %d, %s: native %v, brokered %v", calls, c.text, got[0], got[1])
			failures++
		} else if !refused && !bytes.Equal(memories[0], memories[1]) {
			t.Errorf("call %d, %s (%v): the memories differ", calls, c.text, got[0])
			failures++
		}
		if failures > 20 {
			t.FailNow()
		}
		if got[0].Errno == 0 {
			successes++
		}
	}
	t.Logf("%d of %d succeeded", successes, calls)
	if successes < calls/20 || calls < 100 {
		t.Errorf("only %d of %d calls succeeded: this compares little", successes, calls)
	}
}

// startTwins starts a native and a brokered child, each with a folder of odd
// objects that have attributes, the symbolic links too if this user may.
func startTwins(t *testing.T) ([2]*twin, *Broker) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dirs := [2]string{filepath.Join(base, "nat"), filepath.Join(base, "bro")}
	tr := tree(t, policy.PathRule{Path: dirs[1], Kind: policy.Write})
	var twins [2]*twin
	var b *Broker
	for i, dir := range dirs {
		makeZoo(t, dir)
		for _, name := range []string{"f", "d", "d/f", "to-f", "to-d", "dangling", "fifo"} {
			mark(t, filepath.Join(dir, name))
		}
		w := &twin{dir: dir}
		if i == 0 {
			w.subject = start(t, roleBare, nil, "calls")
		} else {
			w.subject, b = startBrokered(t, Options{Tree: tr, Network: plan.NoNetwork}, "calls", nil)
		}
		w.furnish(t)
		w.makeBuffer(t)
		twins[i] = w
	}
	t.Cleanup(func() { openAll(t, dirs[0], dirs[1]) })
	return twins, b
}

// mark sets attributes of one object, of a link itself. Only root may set any
// on links and FIFOs.
func mark(tb testing.TB, name string) {
	tb.Helper()
	for _, attr := range []string{"user.a", "user.t", "security.t", "trusted.x"} {
		value := []byte("value of " + filepath.Base(name))
		p, a := str(name), str(attr)
		_, _, errno := syscall.Syscall6(syscall.SYS_LSETXATTR, pointer(p), pointer(a), pointer(value), uintptr(len(value)), 0, 0)
		may := os.Getuid() == 0 && !strings.HasPrefix(attr, "user.")
		if errno != 0 && may && errno != syscall.EOPNOTSUPP {
			tb.Fatalf("%s on %s: %v", attr, name, errno)
		}
	}
}

// randomRead returns a call on attributes with random arguments, of which one
// in three changes them.
func randomRead(rng *rand.Rand, w *twin) randomly {
	d := throw(rng, w.fds)
	fd := d.fd
	if fd == atFDCWD {
		fd = -1
	}
	attr := d.attr
	if d.IntN(2) == 0 {
		attr = []any{str("user.a"), str("user.t"), str("security.t"), str("trusted.x"), str("system.posix_acl_access")}[d.IntN(5)]
	}
	size := d.pick(0, 1, 5, 12, 100, 100, 100, 4096, 65535, 65536, 65537, 1<<40)
	at := d.pick(bufferAt, bufferAt, bufferAt, bufferAt, bufferAt+7, sealedAt-3, sealedAt, bufferEnd, 1<<20, 0, -4096)
	options := []randomly{
		{syscall.SYS_GETXATTR, "getxattr", func(w *twin) []any { return []any{d.path(w), attr, at, size} }},
		{syscall.SYS_LGETXATTR, "lgetxattr", func(w *twin) []any { return []any{d.path(w), attr, at, size} }},
		{syscall.SYS_FGETXATTR, "fgetxattr", func(*twin) []any { return []any{fd, attr, at, size} }},
		{syscall.SYS_LISTXATTR, "listxattr", func(w *twin) []any { return []any{d.path(w), at, size} }},
		{syscall.SYS_LLISTXATTR, "llistxattr", func(w *twin) []any { return []any{d.path(w), at, size} }},
		{syscall.SYS_FLISTXATTR, "flistxattr", func(*twin) []any { return []any{fd, at, size} }},
		{syscall.SYS_SETXATTR, "setxattr", func(w *twin) []any { return []any{d.path(w), attr, d.value, d.size, d.xflags} }},
		{syscall.SYS_LSETXATTR, "lsetxattr", func(w *twin) []any { return []any{d.path(w), attr, d.value, d.size, d.xflags} }},
		{syscall.SYS_REMOVEXATTR, "removexattr", func(w *twin) []any { return []any{d.path(w), attr} }},
	}
	c := options[rng.IntN(len(options))]
	c.text += ": " + d.String() + " of size " + strconv.Itoa(size) + " at " + strconv.FormatInt(int64(at), 16)
	return c
}
