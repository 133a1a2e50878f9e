// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// flicker is a pair of calls for two threads: one makes what the other names
// come and go.
type flicker struct {
	stir, try func() error
	// undo undoes what a successful try has done.
	undo func()
	want []syscall.Errno
}

// flickers are the pairs. Names are relative to the working directory.
func flickers() map[string]flicker {
	open := func(name string, flags int) error {
		fd, err := syscall.Open(name, flags, 0o644)
		if err == nil {
			_ = syscall.Close(fd)
		}
		return err
	}
	comeAndGo := func() error {
		if err := open("u", os.O_WRONLY|os.O_CREATE); err != nil {
			return err
		}
		return syscall.Unlink("u")
	}
	folder := func() error {
		if err := syscall.Mkdir("fold", 0o755); err != nil {
			return err
		}
		if err := open("fold/x", os.O_WRONLY|os.O_CREATE); err != nil {
			return err
		}
		if err := syscall.Unlink("fold/x"); err != nil {
			return err
		}
		return syscall.Rmdir("fold")
	}
	exchange := func() error { return errnoOrNil(sys.Rename(sys.AtCWD, "natf", sys.AtCWD, "other", sys.RenameExchange)) }
	remove := func(name string) func() { return func() { _ = syscall.Unlink(name) } }
	there := []syscall.Errno{0, syscall.ENOENT}
	return map[string]flicker{
		"rename":     {comeAndGoBack, func() error { return syscall.Rename("u", "v") }, func() { _ = syscall.Rename("v", "u") }, there},
		"link":       {comeAndGo, func() error { return syscall.Link("u", "v") }, remove("v"), there},
		"truncate":   {comeAndGo, func() error { return syscall.Truncate("u", 3) }, nil, there},
		"open":       {comeAndGo, func() error { return open("u", os.O_RDWR) }, nil, there},
		"lock file":  {comeAndGoBack, func() error { return open("u", os.O_RDWR|os.O_CREATE|os.O_EXCL) }, remove("u"), []syscall.Errno{0, syscall.EEXIST}},
		"in folder":  {folder, func() error { return open("fold/x", os.O_RDWR) }, nil, there},
		"mkdir in":   {folderBack(folder), func() error { return syscall.Mkdir("fold/y", 0o755) }, func() { _ = syscall.Rmdir("fold/y") }, there},
		"replaced":   {exchange, func() error { return open("natf", os.O_RDWR) }, nil, []syscall.Errno{0}},
		"emptied":    {exchange, func() error { return syscall.Truncate("natf", 0) }, nil, []syscall.Errno{0}},
		"then plain": {folderBack(folder), func() error { return open("fold", os.O_RDWR) }, nil, []syscall.Errno{syscall.EISDIR, syscall.ENOENT}},
	}
}

// comeAndGoBack makes a file that may be there or gone already.
func comeAndGoBack() error {
	fd, err := syscall.Open("u", os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_ = syscall.Close(fd)
	if err := syscall.Unlink("u"); err != syscall.ENOENT {
		return err
	}
	return nil
}

// folderBack takes it that the other thread's folder keeps this one's from
// being removed.
func folderBack(do func() error) func() error {
	return func() error {
		switch err := do(); err {
		case syscall.ENOTEMPTY:
			_ = syscall.Rmdir("fold/y")
			_ = syscall.Rmdir("fold")
			return nil
		case syscall.EEXIST:
			_ = syscall.Rmdir("fold")
			return nil
		default:
			return err
		}
	}
}

func errnoOrNil(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// playFlicker runs one pair: folder, name of the pair. It says how often the
// trying thread got which errno, and what went wrong with the other.
func playFlicker(args []string) error {
	if err := os.Chdir(args[0]); err != nil {
		return err
	}
	f := flickers()[args[1]]
	var over atomic.Bool
	stirred := make(chan error)
	go func() {
		runtime.LockOSThread()
		var err error
		for err == nil && !over.Load() {
			err = f.stir()
		}
		stirred <- err
	}()
	got := map[string]int{}
	// Long enough for every answer to come, bounded where one never does.
	end := time.Now().Add(patient)
	for n := 0; (n < 2000 || len(got) < len(f.want)) && time.Now().Before(end); n++ {
		err := f.try()
		name := "OK"
		if errno, ok := err.(syscall.Errno); ok {
			name = sys.ErrnoName(errno)
		}
		got[name]++
		if err == nil && f.undo != nil {
			f.undo()
		}
	}
	over.Store(true)
	if err := <-stirred; err != nil {
		got["stirring: "+err.Error()]++
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

// TestNestedFlicker: a name that comes and goes is there or not, and never
// closed: nobody is answered EACCES because the kernel finds what the broker
// has made a moment ago.
func TestNestedFlicker(t *testing.T) {
	for name, f := range flickers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := makeProject(t)
			rules := p.rules(policy.BlockedWrite)
			ruleset, files := lower(t, hostTree(t, rules...))
			if err := os.WriteFile(filepath.Join(p.dir, "other"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			s, listener := startConfined(t, ruleset, classRead, "flicker", p.dir, name)
			serve(t, s, listener, Options{Tree: hostTree(t, rules...), Files: files})
			var got map[string]int
			if err := json.NewDecoder(s.out).Decode(&got); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for answer := range got {
				seen[answer] = true
			}
			want := map[string]bool{}
			for _, errno := range f.want {
				answer := "OK"
				if errno != 0 {
					answer = sys.ErrnoName(errno)
				}
				want[answer] = true
			}
			if diff := cmp.Diff(want, seen); diff != "" {
				t.Errorf("the answers were %v: %s", got, diff)
			}
		})
	}
}
