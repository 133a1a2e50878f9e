// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/binary"
	"os"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

// TestNestedFullTable: who can have no more descriptors changes nothing by
// trying to open, as outside: no file comes into being, and none is emptied.
func TestNestedFullTable(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit int
	}{
		{"far below what the table holds", 20},
		{"as many as the table holds at first", 64},
		{"more than it holds at first", 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := makeProject(t)
			native := start(t, roleBare, nil, "calls")
			brokered, _ := startProject(t, p, policy.BlockedWrite)
			for name, s := range map[string]*subject{"native": native, "brokered": brokered} {
				if o := s.call(t, syscall.SYS_CHDIR, str(p.dir)); o.Errno != 0 {
					t.Fatal(o)
				}
				if err := os.WriteFile(p.dir+"/"+name, []byte("full"), 0o644); err != nil {
					t.Fatal(err)
				}
				fillTable(t, s, c.limit)
				for what, flags := range map[string]int{
					"new": os.O_WRONLY | os.O_CREATE, "new, too": os.O_RDWR | os.O_CREATE | os.O_EXCL, name: os.O_WRONLY | os.O_TRUNC,
					"./" + name: os.O_RDWR | os.O_TRUNC | os.O_APPEND, "../p/" + name: os.O_RDONLY | os.O_TRUNC, ".//" + name: os.O_RDWR | os.O_CREATE | os.O_TRUNC,
				} {
					if o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str(what), flags, 0o644); o.Errno != syscall.EMFILE {
						t.Errorf("%s: open %s: %v", name, what, o)
					}
				}
				for _, made := range []string{"new", "new, too"} {
					if _, err := os.Lstat(p.dir + "/" + made); err == nil {
						t.Errorf("%s: %s was made", name, made)
					}
				}
				if b, err := os.ReadFile(p.dir + "/" + name); string(b) != "full" {
					t.Errorf("%s: it was emptied: %q, %v", name, b, err)
				}
				s.close(t, 10) // of the copies
				o := s.call(t, syscall.SYS_OPENAT, atFDCWD, str("room for "+name), os.O_WRONLY|os.O_CREATE, 0o644)
				if o.Errno != 0 || o.Value != 10 {
					t.Errorf("%s: with room: %v", name, o)
				}
				s.close(t, 10)
				o = s.call(t, syscall.SYS_OPENAT, atFDCWD, str(name), os.O_WRONLY|os.O_TRUNC, 0)
				if b, _ := os.ReadFile(p.dir + "/" + name); o.Errno != 0 || len(b) != 0 {
					t.Errorf("%s: with room: %v, %q", name, o, b)
				}
			}
		})
	}
}

// fillTable gives a child a limit and as many copies of a descriptor as it can
// have below it, and one above.
func fillTable(tb testing.TB, s *subject, limit int) {
	tb.Helper()
	const nofile = 7 // RLIMIT_NOFILE
	if o := s.call(tb, syscall.SYS_DUP3, 0, limit+5, syscall.O_CLOEXEC); o.Errno != 0 {
		tb.Fatal(o)
	}
	both := binary.NativeEndian.AppendUint64(nil, uint64(limit))
	both = binary.NativeEndian.AppendUint64(both, 1000)
	if o := s.call(tb, syscall.SYS_PRLIMIT64, 0, nofile, memory(both), 0); o.Errno != 0 {
		tb.Fatal(o)
	}
	for range limit + 1 {
		o := s.call(tb, syscall.SYS_FCNTL, 0, syscall.F_DUPFD, 10)
		if o.Errno == syscall.EMFILE {
			break
		}
		if o.Errno != 0 {
			tb.Fatal(o)
		}
	}
	for { // the numbers below
		o := s.call(tb, syscall.SYS_DUP, 0)
		if o.Errno == syscall.EMFILE {
			return
		}
		if o.Errno != 0 || int(o.Value) >= limit {
			tb.Fatal(o)
		}
	}
}
