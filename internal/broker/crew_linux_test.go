// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// playTwo makes a call that hangs on one thread, and others on another one as
// soon as a byte comes on stdin. Argument: a file.
func playTwo(args []string) error {
	fd, err := syscall.Open(args[0], syscall.O_RDWR, 0)
	if err != nil {
		return err
	}
	go func() { fmt.Println("hung", syscall.Fchmod(fd, 0o600)) }()
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	for i := range 100 {
		if err := syscall.Fchmodat(sys.AtCWD, args[0], uint32(0o600+i%2), 0); err != nil {
			return err
		}
	}
	fmt.Println("others done")
	time.Sleep(time.Minute)
	return nil
}

// TestHungCall: a call that takes for ever does not hold up others, nor the
// end.
func TestHungCall(t *testing.T) {
	f := makeFolders(t)
	s, listener := startFiltered(t, "two", nil, f.w+"/f")
	b, err := New(listener, f.options(t))
	if err != nil {
		t.Fatal(err)
	}
	hangs, hang := make(chan struct{}), make(chan struct{})
	b.calls[syscall.SYS_FCHMOD] = call{"fchmod", func(*task) syscall.Errno { close(hangs); <-hang; return syscall.EDOM }}
	done := make(chan error, 1)
	go func() { done <- b.Serve() }()
	select {
	case <-hangs:
	case <-time.After(patient):
		t.Fatal("the call does not come")
	}
	s.tell(t)
	s.says(t, "others done")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patient):
		t.Fatal("Serve does not end")
	}
	close(hang)
	s.says(t, "hung numerical argument out of domain")
}

// TestPanic: a mistake of ours refuses the call, is reported, and does not
// end the broker.
func TestPanic(t *testing.T) {
	f := makeFolders(t)
	s, listener := startFiltered(t, "calls", nil)
	b, err := New(listener, f.options(t))
	if err != nil {
		t.Fatal(err)
	}
	b.calls[syscall.SYS_FCHMOD] = call{"fchmod", func(t *task) syscall.Errno { return syscall.Errno(*(*int32)(nil)) }}
	delete(b.calls, syscall.SYS_FCHOWN)
	done := make(chan error, 1)
	go func() { done <- b.Serve() }()
	if o := s.call(t, syscall.SYS_FCHMOD, 0, 0); o.Errno != syscall.EACCES {
		t.Errorf("the call got %v", o)
	}
	if o := s.call(t, syscall.SYS_FCHOWN, 0, -1, -1); o.Errno != syscall.ENOSYS {
		t.Errorf("an unknown call got %v", o)
	}
	if o := s.call(t, syscall.SYS_FCHMODAT, atFDCWD, str(f.w+"/f"), 0o600); o.Errno != 0 {
		t.Errorf("the next call got %v", o)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "nil pointer") {
		t.Errorf("Serve: %v", err)
	}
}

// playFlood makes calls from many threads at once. Arguments: a folder, how
// many threads, how many calls each.
func playFlood(args []string) error {
	threads, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	calls, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	wrong := make([]int, threads)
	for n := range threads {
		group.Go(func() {
			for i := range calls {
				switch i % 2 {
				case 0:
					if syscall.Fchmodat(sys.AtCWD, args[0]+"/w/f", 0o600, 0) != nil {
						wrong[n]++
					}
				case 1:
					if syscall.Fchmodat(sys.AtCWD, args[0]+"/r/f", 0o600, 0) != syscall.EACCES {
						wrong[n]++
					}
				}
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range wrong {
		total += n
	}
	fmt.Println("wrong", total)
	return nil
}

// TestFlood: many callers cost neither descriptors nor threads nor memory
// that stay.
func TestFlood(t *testing.T) {
	f := makeFolders(t)
	const threads, calls = 40, 60
	before := descriptors(t)
	s, b := startBrokered(t, f.options(t), "flood", nil, strings.TrimSuffix(f.w, "/w"), strconv.Itoa(threads), strconv.Itoa(calls))
	s.says(t, "wrong 0")
	list, dropped := b.Denials()
	if len(list) != 1 || denial.Total(list) != threads*calls/2 || dropped != 0 {
		t.Errorf("%d denials kept, which stand for %d calls; %d dropped", len(list), denial.Total(list), dropped)
	}
	fewWorkers(t, b)
	// The broker's own four, and three pipes to the child.
	if now := descriptors(t); now > before+8 {
		t.Errorf("%d descriptors, %d before", now, before)
	}
}

// TestLeadChanges takes the lead away as often as it goes, in the middle of
// calls that are short: none is lost, and in the end all threads end, which
// one that had lost the lead while it waited for a call would not.
func TestLeadChanges(t *testing.T) {
	f := makeFolders(t)
	const threads, calls = 8, 300
	s, b := startBrokered(t, f.options(t), "flood", nil, strings.TrimSuffix(f.w, "/w"), strconv.Itoa(threads), strconv.Itoa(calls))
	stop, changes := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				changes <- n
				return
			default:
			}
			if now := b.crew.look(); now.leader != nil && now.state&doing == serving {
				b.crew.depose(now.leader, now.state)
				n++
			}
			time.Sleep(20 * time.Microsecond)
		}
	}()
	s.says(t, "wrong 0")
	close(stop)
	if n := <-changes; n < 10 {
		t.Errorf("the lead was taken %d times only", n)
	}
	fewWorkers(t, b)
}

// fewWorkers waits until the threads that are not needed any more have ended.
func fewWorkers(tb testing.TB, b *Broker) {
	tb.Helper()
	workers := 0
	for end := time.Now().Add(patient); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		b.crew.mu.Lock()
		workers = b.crew.total
		b.crew.mu.Unlock()
		if workers <= 4 {
			return
		}
	}
	tb.Errorf("%d threads are left", workers)
}

func descriptors(tb testing.TB) int {
	tb.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	return len(list)
}
