// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ambit-sandbox/ambit/policy"
)

// sharedAt is where a child has the memory that it shares with the test, which
// plays the child's second thread.
const sharedAt = 0x20_0000_0000

// peepshow is a folder w that may be read and a closed one, r, with the same
// names in them, and a child that asks for w's while they turn into r's.
type peepshow struct {
	folders
	s      *subject
	shared []byte
	watch  int // an inotify descriptor of the child
}

// newPeepshow starts the child with launch.
func newPeepshow(t *testing.T, launch func(Options, []*os.File) *subject) *peepshow {
	t.Helper()
	p := &peepshow{folders: makeFolders(t)}
	for dir, value := range map[string]string{p.w: "mine", p.r: "leak"} {
		if err := syscall.Setxattr(dir+"/f", "user.kept", []byte(value), 0); err != nil {
			if err == syscall.EOPNOTSUPP && !kernelIs(t, 6, 6) {
				t.Skip("no user attributes on this file system: tmpfs has them since Linux 6.6")
			}
			t.Fatal(err)
		}
	}
	page := openFile(t, filepath.Join(t.TempDir(), "page"), os.O_RDWR|os.O_CREATE)
	if err := page.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	both := syscall.PROT_READ | syscall.PROT_WRITE
	shared, err := syscall.Mmap(int(page.Fd()), 0, 4096, both, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(shared) })
	p.shared = shared
	p.s = launch(Options{Tree: tree(t, policy.PathRule{Path: p.w, Kind: policy.Write})}, []*os.File{page})
	p.s.makeBuffer(t)
	if o := p.s.call(t, syscall.SYS_MMAP, sharedAt, 4096, both, syscall.MAP_SHARED|0x100000, 3, 0); o.Value != sharedAt {
		t.Fatalf("no shared memory: %v", o)
	}
	p.watch = int(p.s.call(t, syscall.SYS_INOTIFY_INIT1, 0).Value)
	return p
}

// swing changes what a path means until stop is closed: one letter of it in
// the child's memory, or where a link on the way leads. It returns the path.
func (p *peepshow) swing(t *testing.T, kind, rest string, stop <-chan struct{}) *sync.WaitGroup {
	t.Helper()
	text := p.w + rest
	flip := p.letter(text, len(p.w)-1)
	if kind == "link" {
		link := filepath.Join(p.w, "link")
		copy(p.shared, link+rest+"\x00")
		flip = func(i int) {
			_ = os.Symlink([]string{p.w, p.r}[i%2], link+"-new")
			_ = os.Rename(link+"-new", link)
		}
		flip(0)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				flip(i)
			}
		}
	})
	return &group
}

// letter puts a path into the shared memory, and returns what sets the letter
// at a place of it to w or r.
func (p *peepshow) letter(text string, at int) func(int) {
	copy(p.shared, text+"\x00")
	word := (*uint32)(unsafe.Pointer(&p.shared[at&^3]))
	var v [2]uint32
	for i, c := range []byte{'w', 'r'} {
		p.shared[at] = c
		v[i] = atomic.LoadUint32(word)
	}
	return func(i int) { atomic.StoreUint32(word, v[i%2]) }
}

// peeps counts what came of the tries.
type peeps struct{ own, refused, leaks int }

// peep tries for some time, and then until both answers have come, or until
// something leaks.
func (p *peepshow) peep(t *testing.T, kind, what string, length time.Duration) (n peeps) {
	t.Helper()
	rest := map[string]string{"attribute": "/f", "watch": "/."}[what]
	own := p.s.call(t, syscall.SYS_INOTIFY_ADD_WATCH, p.watch, str(p.w), 0x100).Value
	stop := make(chan struct{})
	group := p.swing(t, kind, rest, stop)
	defer group.Wait()
	defer close(stop)
	end := time.Now().Add(length)
	late := end.Add(patient)
	for n.leaks == 0 && (time.Now().Before(end) || (n.own == 0 || n.refused == 0) && time.Now().Before(late)) {
		var o outcome
		leaked := false
		if what == "watch" {
			o = p.s.call(t, syscall.SYS_INOTIFY_ADD_WATCH, p.watch, sharedAt, 0x100)
			leaked = o.Errno == 0 && o.Value != own
		} else {
			o = p.s.call(t, syscall.SYS_GETXATTR, sharedAt, str("user.kept"), bufferAt, 100)
			leaked = strings.HasPrefix(string(p.s.look(t, bufferAt, 4)), "leak")
		}
		switch {
		case leaked:
			n.leaks++
		case o.Errno == 0:
			n.own++
		case o.Errno == syscall.EACCES:
			n.refused++
		}
	}
	return n
}

var peepWays = []struct{ kind, what string }{
	{"memory", "attribute"}, {"memory", "watch"}, {"link", "attribute"}, {"link", "watch"},
}

// TestReadRace has what a path names change while it is being decided.
func TestReadRace(t *testing.T) {
	for _, way := range peepWays {
		t.Run(way.kind+" "+way.what, func(t *testing.T) {
			p := newPeepshow(t, func(o Options, files []*os.File) *subject {
				s, _ := startBrokered(t, o, "calls", files)
				return s
			})
			n := p.peep(t, way.kind, way.what, raceTime(t)/2)
			t.Logf("%+v", n)
			if n.leaks > 0 || n.own == 0 || n.refused == 0 {
				t.Errorf("%+v: want no leaks, and some of the others", n)
			}
		})
	}
}

// TestNaiveLosesReadRace does the same to a supervisor that checks in the same
// way, and lets the kernel do what it has allowed: the attack works.
func TestNaiveLosesReadRace(t *testing.T) {
	for _, way := range peepWays {
		t.Run(way.kind+" "+way.what, func(t *testing.T) {
			p := newPeepshow(t, func(o Options, files []*os.File) *subject { return startNaive(t, o, files) })
			if n := p.peep(t, way.kind, way.what, 2*patient); n.leaks == 0 {
				t.Errorf("the attack does not work: %+v", n)
			}
		})
	}
}

// startNaive runs a child that makes calls under the naive supervisor.
func startNaive(t *testing.T, o Options, files []*os.File) *subject {
	t.Helper()
	s, listener := startFiltered(t, "calls", files)
	b, err := New(listener, o)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- (&naiveSupervisor{b: b}).serve() }()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}
