// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/policy"
)

// playOneEnd opens FIFOs as its arguments say: "r NAME" or "w NAME", each on a
// thread of its own, and passes a word through. Those that write begin as soon
// as a byte comes on stdin. It says when it gets SIGUSR1.
func playOneEnd(args []string) error {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGUSR1) // with SA_RESTART
	go func() {
		for range got {
			fmt.Println("signal")
		}
	}()
	write := make(chan struct{})
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		close(write)
	}()
	var ends sync.WaitGroup
	for i := 0; i < len(args); i += 2 {
		how, name := args[i], args[i+1]
		ends.Go(func() {
			runtime.LockOSThread()
			if how == "r" {
				fd, err := syscall.Open(name, syscall.O_RDONLY, 0)
				var buf [16]byte
				n, _ := syscall.Read(fd, buf[:])
				flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
				fmt.Println("read", string(buf[:n]), err, flags&syscall.O_NONBLOCK)
				return
			}
			<-write
			fd, err := syscall.Open(name, syscall.O_WRONLY, 0)
			n, _ := syscall.Write(fd, []byte("word"))
			fmt.Println("wrote", n, err)
		})
	}
	fmt.Println("ready")
	ends.Wait()
	return nil
}

// startEnds runs playOneEnd in a sandbox where both ends are brokered.
func startEnds(t *testing.T, args ...string) (*subject, *Broker, project) {
	t.Helper()
	p := makeProject(t)
	tree := hostTree(t, p.rules(policy.Blocked)...)
	ruleset, files := lower(t, tree)
	if err := syscall.Mkfifo(p.dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "DIR", p.dir)
	}
	s, listener := startConfined(t, ruleset, classRead, "ends", args...)
	b := serve(t, s, listener, Options{Tree: tree, Files: files})
	s.says(t, "ready")
	return s, b, p
}

// TestNestedFIFO: both ends wait for each other, and then block as they should.
func TestNestedFIFO(t *testing.T) {
	s, b, _ := startEnds(t, "r", "DIR/fifo", "w", "DIR/fifo")
	waitFor(t, "a reader that waits", func() bool { return b.waiting.Load() == 1 })
	s.tell(t)
	got := map[string]bool{}
	for range 2 {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimSpace(line)] = true
	}
	if !got["read word <nil> 0"] || !got["wrote 4 <nil>"] {
		t.Errorf("%v", got)
	}
	if n := b.waiting.Load(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestNestedFIFOSignal: a signal with SA_RESTART starts the waiting anew, and
// loses nothing.
func TestNestedFIFOSignal(t *testing.T) {
	s, b, p := startEnds(t, "r", "DIR/fifo")
	for range 5 {
		waitFor(t, "a reader that waits", func() bool { return b.waiting.Load() == 1 && s.blockedIn(t, syscall.SYS_OPENAT) == 1 })
		if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		s.says(t, "signal")
	}
	w, err := os.OpenFile(p.dir+"/fifo", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("outside"); err != nil {
		t.Error(err)
	}
	s.says(t, "read outside <nil> 0")
	_ = w.Close()
}

// TestNestedFIFOKilled: the broker does not wait for the dead.
func TestNestedFIFOKilled(t *testing.T) {
	s, b, p := startEnds(t, "r", "DIR/fifo", "w", "DIR/fifo2")
	if err := syscall.Mkfifo(p.dir+"/fifo2", 0o600); err != nil {
		t.Fatal(err)
	}
	s.tell(t)
	waitFor(t, "two ends that wait", func() bool { return b.waiting.Load() == 2 })
	_ = s.cmd.Process.Kill()
	waitFor(t, "nobody to wait", func() bool { return b.waiting.Load() == 0 })
}

// TestNestedFIFOCrowd has many wait at once, which costs no threads, and each
// of them is served when its time comes.
func TestNestedFIFOCrowd(t *testing.T) {
	const many = 75
	p := makeProject(t)
	tree := hostTree(t, p.rules(policy.Blocked)...)
	ruleset, files := lower(t, tree)
	var args, names []string
	for i := range many {
		for _, how := range []string{"r", "w"} {
			name := fmt.Sprintf("%s/%s%d", p.dir, how, i)
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
			args, names = append(args, how, name), append(names, name)
		}
	}
	s, listener := startConfined(t, ruleset, classRead, "ends", args...)
	b := serve(t, s, listener, Options{Tree: tree, Files: files})
	s.says(t, "ready")
	s.tell(t)
	waitFor(t, "a crowd that waits", func() bool { return b.waiting.Load() == 2*many })
	fewWorkers(t, b)
	for _, name := range names {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if filepath.Base(name)[0] == 'r' {
			if _, err := f.WriteString("word"); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := map[string]int{}
	for range 2 * many {
		line, err := s.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimSpace(line)]++
	}
	if got["read word <nil> 0"] != many || got["wrote 4 <nil>"] != many {
		t.Errorf("%v", got)
	}
	waitFor(t, "an empty room", func() bool { b.room.mu.Lock(); defer b.room.mu.Unlock(); return !b.room.runs && b.waiting.Load() == 0 })
}

func waitFor(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for began := time.Now(); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patient {
			tb.Fatalf("there is not %s", what)
		}
	}
}

// playOneCrowd opens from 32 threads at once: files of their own, and one that
// only one of them may make. Argument: the folder.
func playOneCrowd(args []string) error {
	runtime.GOMAXPROCS(32)
	var crowd sync.WaitGroup
	results := make(chan string, 32)
	start := make(chan struct{})
	for i := range 32 {
		crowd.Go(func() {
			runtime.LockOSThread()
			<-start
			won := 0
			for round := range 20 {
				own := fmt.Sprintf("%s/own%d-%d", args[0], i, round)
				fd, err := syscall.Open(own, syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY|syscall.O_CLOEXEC, 0o644)
				if err != nil {
					results <- fmt.Sprint(own, err)
					return
				}
				if n, err := syscall.Write(fd, []byte(own)); n != len(own) || err != nil {
					results <- fmt.Sprint(own, n, err)
					return
				}
				_ = syscall.Close(fd)
				fd, err = syscall.Open(fmt.Sprintf("%s/one%d", args[0], round), syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY, 0o644)
				if err == nil {
					won++
					_ = syscall.Close(fd)
				} else if err != syscall.EEXIST {
					results <- err.Error()
					return
				}
			}
			results <- fmt.Sprintf("won %d", won)
		})
	}
	close(start)
	crowd.Wait()
	close(results)
	won := 0
	for r := range results {
		n := 0
		if _, err := fmt.Sscanf(r, "won %d", &n); err != nil {
			fmt.Println(r)
			return nil
		}
		won += n
	}
	fmt.Println("won", won)
	return nil
}

// TestNestedCrowd has 32 threads open files at once.
func TestNestedCrowd(t *testing.T) {
	p := makeProject(t)
	s, _ := startNested(t, hostTree(t, p.rules(policy.BlockedWrite)...), "crowd", p.dir)
	s.says(t, "won 20")
	for i := range 32 {
		for round := range 20 {
			name := fmt.Sprintf("%s/own%d-%d", p.dir, i, round)
			if b, err := os.ReadFile(name); err != nil || string(b) != name {
				t.Errorf("%s: %q, %v", name, b, err)
			}
		}
	}
}

// TestNestedDefaultACL: where a folder has default permissions, the umask of
// the caller does not count.
func TestNestedDefaultACL(t *testing.T) {
	p := makeProject(t)
	acl := minimalACL() // rw-r-----
	if err := syscall.Setxattr(p.dir+"/a", "system.posix_acl_default", acl, 0); err == syscall.EOPNOTSUPP {
		t.Skip("the file system has no default permissions")
	} else if err != nil {
		t.Fatal(err)
	}
	s, _ := startProject(t, p, policy.BlockedWrite)
	s.call(t, syscall.SYS_UMASK, 0o177)
	for name, want := range map[string]os.FileMode{"a/new": 0o640, "git/new": 0o600} {
		o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), os.O_WRONLY|os.O_CREATE, 0o666)
		if o.Errno != 0 {
			t.Fatal(o)
		}
		if m := mode(t, filepath.Join(p.dir, name)); m != want {
			t.Errorf("%s: mode %v, not %v", name, m, want)
		}
	}
}

// TestNestedHardLinks: an exception stays one under another name, which it had
// before.
func TestNestedHardLinks(t *testing.T) {
	p := makeProject(t)
	for from, to := range map[string]string{"git/config": "config2", "natf": "natf2"} {
		if err := os.Link(p.dir+"/"+from, p.dir+"/"+to); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := startProject(t, p, policy.BlockedWrite)
	for name, want := range map[string]syscall.Errno{"config2": syscall.EACCES, "natf2": 0, "natf": 0} {
		o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), os.O_WRONLY|os.O_TRUNC, 0)
		if o.Errno != want {
			t.Errorf("open %s: %v", name, o)
		}
		if o := s.call(t, syscall.SYS_TRUNCATE, str(name), 0); o.Errno != want {
			t.Errorf("truncate %s: %v", name, o)
		}
		if o := s.link(t, name, name+"-linked"); o.Errno != want && (want == 0 || o.Errno != syscall.EXDEV) {
			t.Errorf("link %s: %v", name, o)
		}
	}
	if b, err := os.ReadFile(p.dir + "/git/config"); string(b) != "p/git/config" {
		t.Errorf("the exception: %q, %v", b, err)
	}
}

// TestNestedPrograms runs real programs in the project, as outside.
func TestNestedPrograms(t *testing.T) {
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		t.Run(string(kind), func(t *testing.T) {
			p := makeProject(t)
			tree := hostTree(t, append(p.rules(kind), policy.PathRule{Path: "/dev/null", Kind: policy.Write, Builtin: true})...)
			ruleset, files := lower(t, tree)
			script := `set -e; cd "$1"
mkdir -p new/deep; echo one >new/deep/f; echo two >>new/deep/f; cp -r nat nat2; mv nat2 nat3; rm -rf nat; mkdir nat; echo x >nat/f
tar cf t.tar nat3; mkdir un; tar xf t.tar -C un; ln -s f un/link; cat <new/deep/f >copy; rm -r un; umask 077; echo >private
! echo x 2>/dev/null >git/config; ! rm -f git/hooks/h 2>/dev/null; ! mkdir missing 2>/dev/null; echo done`
			s, listener := startConfined(t, ruleset, classOf(tree), "exec", "/bin/sh", "-c", script, "sh", p.dir)
			serve(t, s, listener, Options{Tree: tree, Files: files})
			s.says(t, "done")
			if b, err := os.ReadFile(p.dir + "/copy"); string(b) != "one\ntwo\n" {
				t.Errorf("copy: %q, %v", b, err)
			}
			if m := mode(t, p.dir+"/private"); m != 0o600 {
				t.Errorf("private: %v", m)
			}
			if b, err := os.ReadFile(p.dir + "/git/config"); string(b) != "p/git/config" {
				t.Errorf("the exception: %q, %v", b, err)
			}
		})
	}
}

// playOneExec becomes a program.
func playOneExec(args []string) error {
	name, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	return syscall.Exec(name, args, os.Environ())
}

// TestNestedProc: what is read in /proc depends on who opens it, so it is
// never the broker.
func TestNestedProc(t *testing.T) {
	p := makeProject(t)
	tree := hostTree(t, append(p.rules(policy.Blocked), policy.PathRule{Path: "/proc/kcore", Kind: policy.Blocked})...)
	ruleset, files := lower(t, hostTree(t, p.rules(policy.Blocked)...))
	s, listener := startConfined(t, ruleset, classRead, "calls")
	b := serve(t, s, listener, Options{Tree: tree, Files: files})
	if j, _ := b.land.judge("/proc/1/environ", 1); j != brokered {
		t.Fatalf("/proc is no place for the broker: %v", j)
	}
	for _, name := range []string{fmt.Sprintf("/proc/%d/environ", os.Getpid()), fmt.Sprintf("/proc/%d/maps", os.Getpid())} {
		o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), os.O_RDONLY, 0)
		if o.Errno == 0 {
			if r := s.call(t, syscall.SYS_READ, int(o.Value), memory(make([]byte, 64)), 64); r.Errno == 0 && r.Value > 0 {
				t.Errorf("%s: opened and read: %v", name, r)
			}
		}
	}
	if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str("/proc/self/environ"), os.O_RDONLY, 0); o.Errno != 0 {
		t.Errorf("its own: %v", o)
	}
}
