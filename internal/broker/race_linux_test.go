// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// raceVariable sets how many seconds the attack lasts.
const raceVariable = "AMBIT_RACE_SECONDS"

func raceTime(tb testing.TB) time.Duration {
	tb.Helper()
	text := os.Getenv(raceVariable)
	if text == "" {
		return 3 * time.Second
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatal(err)
	}
	return time.Duration(n) * time.Second
}

// TestRace has threads that change what a call names while it is being
// decided: the path in memory, links and folders on the way, descriptors. The
// victim is beside the writable folder and must stay as it is.
func TestRace(t *testing.T) {
	length := raceTime(t)
	a := newArena(t)
	s, _ := startBrokered(t, a.options(t), "attack", nil, a.w, a.r, length.String())
	tries := a.wait(t, s, length)
	t.Logf("%v", tries)
	if diff := cmp.Diff(a.before, stateOf(t, a.r+"/victim")); diff != "" {
		t.Errorf("the victim was changed: %s", diff)
	}
	if n := a.server.contacts(); n != 0 {
		t.Errorf("the server outside has %d contacts", n)
	}
	for name, n := range tries {
		if n.Worked == 0 || n.Failed == 0 {
			t.Errorf("attack %s: %+v: it did not swing", name, n)
		}
	}
}

// TestNaiveLosesRace runs the same attack against a supervisor that checks in
// the same way, and lets the kernel do what it has allowed. It shows that the
// attack works.
func TestNaiveLosesRace(t *testing.T) {
	a := newArena(t)
	s, listener := startFiltered(t, "attack", nil, a.w, a.r, "8m")
	b, err := New(listener, a.options(t))
	if err != nil {
		t.Fatal(err)
	}
	naive := &naiveSupervisor{b: b}
	done := make(chan error, 1)
	go func() { done <- naive.serve() }()
	changed, contacted := false, false
	for began := time.Now(); !(changed && contacted) && time.Since(began) < 4*patient; time.Sleep(10 * time.Millisecond) {
		changed = changed || !cmp.Equal(a.before, stateOf(t, a.r+"/victim"))
		contacted = contacted || a.server.contacts() > 0
	}
	if !changed || !contacted {
		t.Errorf("the attack does not work: victim changed %v, server contacted %v", changed, contacted)
	}
	_ = s.cmd.Process.Kill()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// naiveSupervisor decides on what it sees, and then lets the call go on.
type naiveSupervisor struct{ b *Broker }

func (n *naiveSupervisor) serve() error {
	n.b.started.Store(true)
	defer n.b.release()
	w := &worker{b: n.b}
	var err error
	if w.buf, err = sys.NewNotifyBuffer(); err != nil {
		return err
	}
	for {
		why, err := sys.WaitNotification(n.b.listener, n.b.stop)
		if err != nil || why.Stopped || !why.Pending {
			return err
		}
		c, err := w.buf.Receive(n.b.listener)
		if errors.Is(err, syscall.ENOENT) {
			continue
		}
		if err != nil {
			return err
		}
		t := &task{b: n.b, w: w, id: c.ID, tid: int(c.TID), nr: c.Nr, args: c.Args}
		if n.check(t) {
			err = w.buf.Continue(n.b.listener, t.id)
		} else {
			err = w.buf.Answer(n.b.listener, t.id, 0, syscall.EACCES)
		}
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
}

func (n *naiveSupervisor) check(t *task) bool {
	var on target
	var errno syscall.Errno
	switch t.nr {
	case syscall.SYS_FCHMOD, syscall.SYS_FCHOWN, syscall.SYS_FSETXATTR:
		on = t.fd(0)
	case syscall.SYS_CONNECT:
		addr, e := t.copyBytes(t.args[1], int(t.reg(2)))
		on, errno = target{dir: sys.AtCWD, name: parseUnix(addr).path}, e
	case syscall.SYS_SETXATTR, syscall.SYS_GETXATTR:
		on, errno = t.path(sys.AtCWD, 0, 0)
	default:
		on, errno = t.path(t.reg(0), 1, 0)
	}
	if errno != 0 {
		return false
	}
	o, errno := t.pin(on)
	if errno != 0 {
		return false
	}
	defer o.close()
	ok, _ := mayChange(n.b.options.Tree, o.facts)
	return ok
}

// arena is where the attack takes place: w and r hold the same names, and
// their own names differ in one letter.
type arena struct {
	folders
	before state
	server server
}

func newArena(tb testing.TB) arena {
	tb.Helper()
	a := arena{folders: makeFolders(tb)}
	for _, dir := range []string{a.w, a.r} {
		if err := os.WriteFile(dir+"/victim", []byte("content"), 0o640); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Chdir(a.w)
	listenUnix(tb, "s")
	a.server = listenUnix(tb, "../r/s")
	if err := os.Mkdir("d", 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{"victim", "s"} {
		if err := os.Link(name, "d/"+name); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Symlink("../r", "dl"); err != nil {
		tb.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // so that a change gets another time
	a.before = stateOf(tb, a.r+"/victim")
	return a
}

// tally counts the calls of one kind.
type tally struct{ Worked, Failed int64 }

func (a arena) wait(tb testing.TB, s *subject, length time.Duration) map[string]tally {
	tb.Helper()
	late := time.AfterFunc(length+3*patient, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	var tries map[string]tally
	if err := json.NewDecoder(s.out).Decode(&tries); err != nil {
		tb.Fatalf("the attacker died: %v", err)
	}
	return tries
}

// playAttack attacks: w, r, duration.
func playAttack(args []string) error {
	length, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(16) // threads that are stopped in a call keep theirs
	a := newAttacker(args[0], args[1], length)
	if err := os.Chdir(a.w); err != nil {
		return err
	}
	if err := a.run(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(a.tries)
}

type attacker struct {
	w, r      string
	end, late time.Time
	tries     map[string]*tally
	group     sync.WaitGroup

	mu     sync.Mutex
	swings []*tally
}

func newAttacker(w, r string, length time.Duration) *attacker {
	end := time.Now().Add(length)
	return &attacker{w: w, r: r, end: end, late: end.Add(2 * patient), tries: map[string]*tally{}}
}

// over reports whether the time is over, and every attack has swung: on a
// machine that others use too it may take a while until each of its threads had
// a turn at the right moment.
func (a *attacker) over() bool {
	now := time.Now()
	if now.Before(a.end) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return now.After(a.late) || !slices.ContainsFunc(a.swings, func(n *tally) bool {
		return atomic.LoadInt64(&n.Worked) == 0 || atomic.LoadInt64(&n.Failed) == 0
	})
}

// swing is memory in which one letter changes all the time.
type swing struct {
	buf  []uint64 // for the alignment
	size int
	word *uint32
	v    [2]uint32
}

// newSwing holds text, with the letter behind the last / before "/name"
// changing between w and r.
func newSwing(prefix []byte, text string) *swing {
	all := append(append(slices.Clone(prefix), text...), 0)
	s := &swing{buf: make([]uint64, len(all)/8+1), size: len(all)}
	b := s.bytes()
	copy(b, all)
	at := len(prefix) + strings.LastIndexByte(text, '/') - 1
	s.word = (*uint32)(unsafe.Pointer(&b[at&^3]))
	for i, c := range []byte{'w', 'r'} {
		b[at] = c
		s.v[i] = *s.word
	}
	return s
}

func (s *swing) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&s.buf[0])), s.size) }

func (s *swing) flip(i int) { atomic.StoreUint32(s.word, s.v[i%2]) }

// run starts the swinging threads and the calling ones.
func (a *attacker) run() error {
	path := newSwing(nil, a.w+"/victim")
	addr := newSwing(unixPath("")[:2], "../w/s")
	link := func(i int) {
		_ = os.Symlink([]string{"victim", "../r/victim"}[i%2], "tmp")
		_ = os.Rename("tmp", "link")
		_ = os.Symlink([]string{"s", "../r/s"}[i%2], "tmp")
		_ = os.Rename("tmp", "slink")
	}
	link(0)
	exchange := func(int) {
		d, dl := str("d"), str("dl")
		syscall.Syscall6(sysRenameat2, sysCWD, pointer(d), sysCWD, pointer(dl), 2, 0)
	}
	mine, err := syscall.Open(a.w+"/victim", syscall.O_RDWR, 0)
	if err != nil {
		return err
	}
	theirs, err := syscall.Open(a.r+"/victim", syscall.O_RDONLY, 0)
	if err != nil {
		return err
	}
	const fd = 50
	number := func(i int) { _ = syscall.Dup3([]int{mine, theirs}[i%2], fd, 0) }
	number(0)
	a.swinging(func(i int) { path.flip(i); addr.flip(i) })
	a.swinging(func(i int) { link(i); exchange(i) })
	a.swinging(number)
	for name, where := range map[string]struct{ path, addr []byte }{
		"memory":   {path.bytes(), addr.bytes()},
		"link":     {str("link"), unixPath("slink")},
		"exchange": {str("d/victim"), unixPath("d/s")},
	} {
		a.calling("paths by "+name, func(i int) syscall.Errno { return changePath(where.path, i) })
		a.calling("sockets by "+name, func(int) syscall.Errno { return contact(where.addr) })
	}
	a.calling("descriptors", func(i int) syscall.Errno { return changeFD(fd, i) })
	a.group.Wait()
	return nil
}

// swinging changes without end. On a machine with few processors it must leave
// some to the broker, or nothing is decided that could be changed meanwhile.
func (a *attacker) swinging(f func(int)) {
	a.group.Go(func() {
		runtime.LockOSThread() // for good: the niceness is the thread's
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 5)
		for i := 0; !a.over(); i++ {
			f(i)
			if i%8 == 0 {
				_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
			}
		}
	})
}

func (a *attacker) calling(name string, f func(int) syscall.Errno) {
	n := &tally{}
	a.tries[name] = n
	a.mu.Lock()
	a.swings = append(a.swings, n)
	a.mu.Unlock()
	a.group.Go(func() {
		for i := 0; !a.over(); i++ {
			if f(i) == 0 {
				atomic.AddInt64(&n.Worked, 1)
			} else {
				atomic.AddInt64(&n.Failed, 1)
			}
		}
	})
}

var sysCWD = uintptr(0xffffffffffffff9c) // AT_FDCWD

func pointer(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

func changePath(path []byte, i int) syscall.Errno {
	var errno syscall.Errno
	switch p := pointer(path); i % 4 {
	case 0:
		_, _, errno = syscall.Syscall(syscall.SYS_FCHMODAT, sysCWD, p, 0o777)
	case 1:
		_, _, errno = syscall.Syscall6(syscall.SYS_FCHOWNAT, sysCWD, p, uintptr(os.Getuid()), uintptr(os.Getgid()), 0, 0)
	case 2:
		_, _, errno = syscall.Syscall6(syscall.SYS_UTIMENSAT, sysCWD, p, 0, 0, 0, 0)
	case 3:
		name := str("user.t")
		_, _, errno = syscall.Syscall6(syscall.SYS_SETXATTR, p, pointer(name), pointer(name), 1, 0, 0)
	}
	runtime.KeepAlive(path)
	return errno
}

func changeFD(fd uintptr, i int) syscall.Errno {
	var errno syscall.Errno
	switch i % 3 {
	case 0:
		_, _, errno = syscall.Syscall(syscall.SYS_FCHMOD, fd, 0o777, 0)
	case 1:
		_, _, errno = syscall.Syscall(syscall.SYS_FCHOWN, fd, uintptr(os.Getuid()), uintptr(os.Getgid()))
	case 2:
		name := str("user.t")
		_, _, errno = syscall.Syscall6(syscall.SYS_FSETXATTR, fd, pointer(name), pointer(name), 1, 0, 0)
	}
	return errno
}

// contact connects and hangs up. A queue that is full counts as a success:
// the server in w accepts nothing.
func contact(addr []byte) syscall.Errno {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return syscall.EIO
	}
	defer func() { _ = syscall.Close(fd) }()
	_, _, errno := syscall.Syscall(syscall.SYS_CONNECT, uintptr(fd), pointer(addr), uintptr(len(addr)))
	runtime.KeepAlive(addr)
	if errno == syscall.EAGAIN {
		return 0
	}
	return errno
}

func (t tally) String() string { return fmt.Sprintf("%d worked, %d failed", t.Worked, t.Failed) }
