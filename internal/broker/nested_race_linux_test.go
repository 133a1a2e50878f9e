// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// field is where the storm takes place: a project with a blocked folder r and
// a folder w beside it, which is the broker's.
type field struct{ dir, w, r string }

func makeField(tb testing.TB) field {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	f := field{base + "/p", base + "/p/w", base + "/p/r"}
	if err := os.MkdirAll(f.r+"/sub", 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(f.r+"/victim", []byte("secret"), 0o644); err != nil {
		tb.Fatal(err)
	}
	return f
}

// fill makes what is there beside the exception, after the ruleset was made:
// nothing of it is granted natively.
func (f field) fill(tb testing.TB) {
	tb.Helper()
	if err := os.MkdirAll(f.w+"/d", 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, name := range []string{"/victim", "/d/victim"} {
		if err := os.WriteFile(f.w+name, []byte("public"), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Symlink("../r", f.w+"/dl"); err != nil {
		tb.Fatal(err)
	}
}

func (f field) tree(tb testing.TB, kind policy.Kind) *plan.Tree {
	tb.Helper()
	return hostTree(tb, policy.PathRule{Path: f.dir, Kind: policy.Write}, policy.PathRule{Path: f.r, Kind: kind},
		policy.PathRule{Path: f.dir + "/w/x/y", Kind: kind})
}

// patterns is tree with patterns that match the same places.
func (f field) patterns(tb testing.TB, kind policy.Kind) *plan.Tree {
	tb.Helper()
	return hostTree(tb, policy.PathRule{Path: f.dir, Kind: policy.Write}, policy.PathRule{Path: f.dir + "/**/r", Kind: kind, Pattern: true},
		policy.PathRule{Path: f.dir + "/**/x/y", Kind: kind, Pattern: true})
}

// look is all that can be seen of the exception, its times too.
func (f field) look(tb testing.TB) map[string]string {
	tb.Helper()
	all := snapshot(tb, f.r)
	for _, name := range []string{"", "/victim", "/sub"} {
		all[name] += fmt.Sprint(stateOf(tb, f.r+name))
	}
	return all
}

// TestNestedRace has threads that change what a call names while it is being
// decided. What is in the exception stays as it is, and unread where it is
// blocked.
func TestNestedRace(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		t.Run(string(kind), func(t *testing.T) { nestedRace(t, kind, field.tree) })
	}
}

// TestNestedPatternRace does the same where a pattern matches the places.
func TestNestedPatternRace(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		t.Run(string(kind), func(t *testing.T) { nestedRace(t, kind, field.patterns) })
	}
}

func nestedRace(t *testing.T, kind policy.Kind, makeTree func(field, testing.TB, policy.Kind) *plan.Tree) {
	t.Helper()
	length := raceTime(t)
	f := makeField(t)
	tree := makeTree(f, t, kind)
	ruleset, files := lower(t, tree)
	f.fill(t)
	before := f.look(t)
	s, listener := startConfined(t, ruleset, classOf(tree), "storm", f.w, f.r, length.String())
	serve(t, s, listener, Options{Tree: tree, Files: files})
	tries := stormResult(t, s, length)
	t.Logf("%v", tries)
	if diff := cmp.Diff(before, f.look(t)); diff != "" {
		t.Errorf("the exception was changed: %s", diff)
	}
	if _, err := os.Lstat(f.w + "/x/y"); err == nil {
		t.Error("the missing exception was made")
	}
	if n := tries["secrets read"].Worked; kind == policy.Blocked && n > 0 {
		t.Errorf("the secret was read %d times", n)
	}
	for name, n := range tries {
		if name != "secrets read" && (n.Worked == 0 || n.Failed == 0) {
			t.Errorf("attack %s: %v: it did not swing", name, n)
		}
	}
}

// TestNaiveLosesNestedRace runs the same storm against a supervisor that
// decides in the same way, and then lets the kernel do it.
func TestNaiveLosesNestedRace(t *testing.T) {
	t.Run("named", func(t *testing.T) { naiveLoses(t, field.tree) })
	t.Run("pattern", func(t *testing.T) { naiveLoses(t, field.patterns) })
}

func naiveLoses(t *testing.T, makeTree func(field, testing.TB, policy.Kind) *plan.Tree) {
	t.Helper()
	f := makeField(t)
	tree := makeTree(f, t, policy.BlockedWrite)
	fd, err := sys.LandlockCreateRuleset(sys.Ruleset{FS: uint64(probe.FSMakeBlock)}) // as good as none
	if err != nil {
		t.Fatal(err)
	}
	ruleset := os.NewFile(uintptr(fd), "ruleset")
	defer func() { _ = ruleset.Close() }()
	f.fill(t)
	before := f.look(t)
	s, listener := startConfined(t, ruleset, classWrite, "storm", f.w, f.r, "8m")
	b, err := New(listener, Options{Tree: tree, Files: &Files{Truncate: true}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- serveNaively(b, naivelyAllowed) }()
	changed := false
	for began := time.Now(); !changed && time.Since(began) < 4*patient; time.Sleep(10 * time.Millisecond) {
		var st syscall.Stat_t
		changed = syscall.Lstat(f.r+"/victim", &st) != nil || !strings.HasSuffix(before["/victim"], fmt.Sprint(stateOf(t, f.r+"/victim")))
	}
	if !changed {
		t.Error("the storm does not work")
	}
	_ = s.cmd.Process.Kill()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// serveNaively decides on what it sees, and then lets the call go on.
func serveNaively(b *Broker, allowed func(*task) naiveVerdict) error {
	b.started.Store(true)
	defer b.release()
	w := &worker{b: b}
	var err error
	if w.buf, err = sys.NewNotifyBuffer(); err != nil {
		return err
	}
	for {
		why, err := sys.WaitNotification(b.listener, b.stop)
		if err != nil || why.Stopped || !why.Pending {
			return err
		}
		c, err := w.buf.Receive(b.listener)
		if errors.Is(err, syscall.ENOENT) {
			continue
		}
		if err != nil {
			return err
		}
		t := &task{b: b, w: w, id: c.ID, tid: int(c.TID), nr: c.Nr, args: c.Args}
		if err := answerNaively(t, allowed(t)); err != nil {
			return err
		}
	}
}

func answerNaively(t *task, v naiveVerdict) error {
	var err error
	switch v {
	case goesOn:
		err = t.w.buf.Continue(t.b.listener, t.id)
	case declined:
		err = t.w.buf.Answer(t.b.listener, t.id, 0, syscall.EACCES)
	}
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return err
}

// naiveVerdict is what a naive supervisor makes of a call.
type naiveVerdict int

const (
	goesOn naiveVerdict = iota
	declined
	answeredLater // by somebody else
)

func verdictOf(j judgement) naiveVerdict {
	if j == refused {
		return declined
	}
	return goesOn
}

// naivelyAllowed judges the first name of a call.
func naivelyAllowed(t *task) naiveVerdict {
	dir, arg := t.reg(0), 1
	if t.nr == syscall.SYS_TRUNCATE {
		dir, arg = sys.AtCWD, 0
	}
	on, errno := t.path(dir, arg, 0)
	if errno != 0 {
		return declined
	}
	s, errno := t.locate(on)
	if errno != 0 {
		return declined
	}
	defer s.close()
	if s.object != nil {
		j, _ := t.judgeObject(s.object, plan.Write)
		return verdictOf(j)
	}
	j, _ := t.judgeName(s)
	return verdictOf(j)
}

func stormResult(tb testing.TB, s *subject, length time.Duration) map[string]tally {
	tb.Helper()
	late := time.AfterFunc(length+3*patient, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	var tries map[string]tally
	if err := json.NewDecoder(s.out).Decode(&tries); err != nil {
		tb.Fatalf("the attacker died: %v", err)
	}
	return tries
}

// playStorm attacks: w, r, duration.
func playStorm(args []string) error {
	length, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(16) // threads that are stopped in a call keep theirs
	a := newAttacker(args[0], args[1], length)
	if err := os.Chdir(a.w); err != nil {
		return err
	}
	if err := a.storm(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(a.tries)
}

// storm starts the swinging threads and the calling ones.
func (a *attacker) storm() error {
	path := newSwing(nil, a.w+"/victim")
	fresh := newSwing(nil, a.w+"/freshx")
	link := func(i int) {
		_ = os.Symlink([]string{"victim", "../r/victim"}[i%2], "tmp")
		_ = os.Rename("tmp", "link")
	}
	link(0)
	mine, err := syscall.Open(a.w, sys.OpenPathOnly, 0)
	if err != nil {
		return err
	}
	theirs, err := syscall.Open(a.r, sys.OpenPathOnly, 0)
	if err != nil {
		return err
	}
	const fd = 50
	number := func(i int) { _ = syscall.Dup3([]int{mine, theirs}[i%2], fd, 0) }
	number(0)
	a.swinging(func(i int) { path.flip(i); fresh.flip(i) })
	a.swinging(func(i int) {
		link(i)
		d, dl := str("d"), str("dl")
		_, _, _ = syscall.Syscall6(sysRenameat2, sysCWD, pointer(d), sysCWD, pointer(dl), sys.RenameExchange, 0)
	})
	a.swinging(number)
	a.swinging(func(int) { // what the others remove
		for _, name := range []string{"victim", "d/victim"} {
			if f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW, 0o644); err == nil {
				_ = f.Close()
			}
		}
		time.Sleep(100 * time.Microsecond)
	})
	a.swinging(func(int) { // the folder on the way to an exception that is missing
		_ = os.Mkdir("z", 0o755)
		_ = os.Mkdir("z/y", 0o755)
		_ = os.Rename("z", "x")
		_ = os.Rename("z/y", "x/y")
	})
	a.tries["secrets read"] = &tally{}
	for name, where := range map[string]struct {
		dir          uintptr
		victim, free []byte
	}{
		"memory":      {sysCWD, path.bytes(), fresh.bytes()},
		"link":        {sysCWD, str("link"), str("dl/fresh")},
		"exchange":    {sysCWD, str("d/victim"), str("d/fresh")},
		"descriptors": {fd, str("victim"), str("fresh")},
	} {
		a.calling("files by "+name, func(i int) syscall.Errno { return stormFile(where.dir, where.victim, i) })
		a.calling("names by "+name, func(i int) syscall.Errno { return stormName(where.dir, where.victim, where.free, i) })
	}
	a.calling("reading", func(int) syscall.Errno { return a.read(path.bytes()) })
	a.group.Wait()
	return nil
}

func (a *attacker) read(name []byte) syscall.Errno {
	n, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, sysCWD, pointer(name), syscall.O_RDONLY, 0, 0, 0)
	runtime.KeepAlive(name)
	if errno != 0 {
		return errno
	}
	defer func() { _ = syscall.Close(int(n)) }()
	var buf [6]byte
	if _, err := syscall.Read(int(n), buf[:]); err == nil && string(buf[:]) == "secret" {
		a.tries["secrets read"].Worked++
		return syscall.EACCES
	}
	return 0
}

// stormFile changes the content of what stands under a name.
func stormFile(dir uintptr, name []byte, i int) syscall.Errno {
	flags := []uintptr{syscall.O_WRONLY, syscall.O_WRONLY | syscall.O_TRUNC, syscall.O_RDWR | syscall.O_CREAT, syscall.O_TRUNC | syscall.O_CREAT}[i%4]
	if i%5 == 0 && dir == sysCWD {
		_, _, errno := syscall.Syscall(syscall.SYS_TRUNCATE, pointer(name), 3, 0)
		runtime.KeepAlive(name)
		return errno
	}
	n, _, errno := stormOpen(dir, name, flags, i)
	runtime.KeepAlive(name)
	if errno == 0 {
		_, _ = syscall.Write(int(n), []byte("broken"))
		_ = syscall.Close(int(n))
	}
	return errno
}

// stormOpen takes openat and openat2 in turn, by all ways of following the name.
func stormOpen(dir uintptr, name []byte, flags uintptr, i int) (n, _ uintptr, errno syscall.Errno) {
	if i%3 != 0 {
		return syscall.Syscall6(syscall.SYS_OPENAT, dir, pointer(name), flags, 0o666, 0, 0)
	}
	mode := uint64(0)
	if flags&syscall.O_CREAT != 0 {
		mode = 0o666
	}
	how := openHowOf(uint64(flags), mode, []uint64{0, 1, 8, 16}[i/3%4])
	n, _, errno = syscall.Syscall6(nrOpenat2, dir, pointer(name), pointer(how), uintptr(len(how)), 0, 0)
	runtime.KeepAlive(how)
	return n, 0, errno
}

// stormName makes, moves and removes names.
func stormName(dir uintptr, victim, fresh []byte, i int) (errno syscall.Errno) {
	v, f, l := pointer(victim), pointer(fresh), str("loose")
	switch i % 9 {
	case 0:
		_, _, errno = syscall.Syscall6(syscall.SYS_MKDIRAT, dir, f, 0o777, 0, 0, 0)
	case 1, 3, 5:
		_, _, errno = syscall.Syscall6(syscall.SYS_UNLINKAT, dir, f, uintptr(i%9/3)*0x200, 0, 0, 0)
	case 2:
		_, _, errno = syscall.Syscall6(syscall.SYS_SYMLINKAT, v, dir, f, 0, 0, 0)
	case 4:
		_, _, errno = syscall.Syscall6(syscall.SYS_MKNODAT, dir, f, syscall.S_IFIFO|0o666, 0, 0, 0)
	case 6:
		_, _, errno = syscall.Syscall6(syscall.SYS_LINKAT, dir, v, sysCWD, pointer(l), 0, 0)
	case 7:
		_, _, errno = syscall.Syscall6(syscall.SYS_RENAMEAT, sysCWD, pointer(l), dir, v, 0, 0)
	case 8:
		_, _, errno = syscall.Syscall6(syscall.SYS_UNLINKAT, dir, v, 0, 0, 0, 0)
	}
	runtime.KeepAlive(victim)
	runtime.KeepAlive(fresh)
	return errno
}
