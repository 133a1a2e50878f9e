// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/policy"
)

// TestNestedSameAsNative makes the same random sequence of file operations
// natively in one folder, and brokered in another one, where only two places
// that no call names are exceptions. Every result is the same, and what is
// there in the end.
func TestNestedSameAsNative(t *testing.T) {
	named := func(kind policy.Kind, dir string) []policy.PathRule {
		return []policy.PathRule{{Path: dir + "/deep/er/kept", Kind: kind}, {Path: dir + "/kept", Kind: kind}}
	}
	pattern := func(kind policy.Kind, dir string) []policy.PathRule {
		return []policy.PathRule{{Path: dir + "/**/kep?", Kind: kind, Pattern: true}}
	}
	for _, kind := range []policy.Kind{policy.BlockedWrite, policy.Blocked} {
		for name, c := range map[string]struct {
			block   blocking
			inStore int
		}{"": {named, 0}, " with a stock": {named, 500}, " pattern": {pattern, 0}} {
			t.Run(string(kind)+name, func(t *testing.T) {
				for _, seed := range seeds(t) {
					t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
						sameOperations(t, kind, c.block, rand.New(rand.NewPCG(seed, 2)), c.inStore)
					})
				}
			})
		}
	}
}

// seeds yields one seed, or new ones for AMBIT_SAME_SECONDS, or the one that
// AMBIT_SAME_SEED gives again.
func seeds(t *testing.T) iter.Seq2[int, uint64] {
	number := func(name string) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return 0
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	end := time.Now().Add(time.Duration(number("AMBIT_SAME_SECONDS")) * time.Second)
	given := number("AMBIT_SAME_SEED")
	return func(yield func(int, uint64) bool) {
		for i := 0; i == 0 || given == 0 && time.Now().Before(end) && !t.Failed(); i++ {
			seed := given
			if given == 0 {
				seed = uint64(time.Now().UnixNano())
			}
			if !yield(i, seed) {
				return
			}
		}
	}
}

// blocking says what is blocked in a folder.
type blocking func(kind policy.Kind, dir string) []policy.PathRule

func sameOperations(t *testing.T, kind policy.Kind, block blocking, rng *rand.Rand, inStore int) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dirs := [2]string{base + "/nat", base + "/bro"}
	var twins [2]*twin
	for i, dir := range dirs {
		makeGround(t, dir)
		w := &twin{dir: dir}
		if i == 0 {
			w.subject = start(t, roleBare, nil, "calls")
		} else {
			tree := hostTree(t, append([]policy.PathRule{{Path: dir, Kind: policy.Write}}, block(kind, dir)...)...)
			ruleset, files := lower(t, tree)
			if inStore > 0 {
				stockUp(t, ruleset, files, inStore, base+"/place")
			}
			s, listener := startConfined(t, ruleset, classOf(tree), "calls")
			serve(t, s, listener, Options{Tree: tree, Files: files})
			w.subject = s
		}
		w.settle(t)
		twins[i] = w
	}
	compareTwins(t, dirs, twins, rng)
}

// compareTwins makes random operations in two folders, which are then alike.
func compareTwins(t *testing.T, dirs [2]string, twins [2]*twin, rng *rand.Rand) {
	t.Helper()
	failures, successes := 0, 0
	for i := range 6000 {
		o := randomOperation(rng)
		var got [2]string
		for k, w := range twins {
			got[k] = o.run(t, w)
		}
		tolerated := o.beyond && strings.HasPrefix(got[0], "E") && (got[1] == "EACCES" || got[1] == "EXDEV")
		if got[0] != got[1] && !tolerated {
			t.Errorf("%d: %s: native %s, brokered %s", i, o.text, got[0], got[1])
			if failures++; failures > 20 {
				t.FailNow()
			}
		}
		if !strings.HasPrefix(got[0], "E") {
			successes++
		}
		if i%500 == 0 {
			compareGround(t, dirs)
		}
	}
	if successes < 600 {
		t.Errorf("only %d calls succeeded: this compares little", successes)
	}
	compareGround(t, dirs)
}

// makeGround makes folders that are granted natively, and the way to an
// exception, which is not.
func makeGround(tb testing.TB, dir string) {
	tb.Helper()
	for _, d := range []string{"deep/er/kept", "kept", "d/e", "g"} {
		if err := os.MkdirAll(dir+"/"+d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	for _, f := range []string{"f", "d/f", "deep/f", "deep/er/f", "g/f"} {
		if err := os.WriteFile(dir+"/"+f, []byte(f), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// settle gives the child its working directory and some descriptors.
func (w *twin) settle(tb testing.TB) {
	tb.Helper()
	if o := w.call(tb, syscall.SYS_CHDIR, str(w.dir)); o.Errno != 0 {
		tb.Fatal(o)
	}
	for n, name := range map[int]string{30: "d", 31: "deep", 32: ".", 33: "f"} {
		o := w.call(tb, syscall.SYS_OPENAT, atFDCWD, str(name), oPath, 0)
		if o.Errno != 0 {
			tb.Fatal(o)
		}
		w.call(tb, syscall.SYS_DUP3, int(o.Value), n, 0)
		w.close(tb, int(o.Value))
	}
}

// compareGround compares all that is below the two folders.
func compareGround(tb testing.TB, dirs [2]string) {
	tb.Helper()
	var all [2]map[string]string
	for i, dir := range dirs {
		all[i] = map[string]string{}
		err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			s := stateOf(tb, name)
			text := fmt.Sprintf("%o %d:%d %d", s.Mode, s.UID, s.GID, s.Links)
			switch s.Mode & syscall.S_IFMT {
			case syscall.S_IFREG:
				b, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				text += fmt.Sprintf(" %q", b)
			case syscall.S_IFLNK:
				to, _ := os.Readlink(name)
				text += " " + strings.ReplaceAll(to, dir, "DIR")
			}
			all[i][strings.TrimPrefix(name, dir)] = text
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if diff := cmp.Diff(all[0], all[1]); diff != "" {
		tb.Errorf("the folders differ: %s", diff)
	}
}

// operation is some calls that mean the same to both twins.
type operation struct {
	text string
	run  func(testing.TB, *twin) string
	// beyond: a name leads out of the folder, or to the folder itself, so it may be refused. It can't succeed natively either.
	beyond bool
}

// isBeyond tells so of a name. None of them could be removed or moved.
func isBeyond(name string) bool {
	switch name {
	case "..", "/", "//", "/proc/self/fd/33", "/proc/self/fd/30", "/proc/self/fd/999", "/proc/self/cwd", ".", "d/.", "d/..", "n/..", "f/.":
		return true
	}
	return false
}

var (
	groundNames   = []string{"a", "b", "c", "f", "n", "l"}
	groundFolders = []string{"", "", "", "d/", "d/e/", "deep/", "deep/er/", "g/", "n/", "m/", "l/", "./", "d/../", "deep/er/../", "DIR/", "/proc/self/cwd/", "/proc/self/fd/31/", "nothing/", "f/", "m/../"}
	strangeNames  = []string{"", ".", "..", "/", "d/.", "d/..", "n/..", "/proc/self/fd/33", "/proc/self/fd/30", "/proc/self/fd/999", "g/", "//", "f/.", strings.Repeat("x", 255), strings.Repeat("x", 256), "d//", "/proc/self/cwd", "d/" + strings.Repeat("./", 2046)}
)

func randomName(rng *rand.Rand) string {
	if rng.IntN(12) == 0 {
		return strangeNames[rng.IntN(len(strangeNames))]
	}
	name := groundFolders[rng.IntN(len(groundFolders))]
	if rng.IntN(6) == 0 {
		name += "m"
	} else {
		name += groundNames[rng.IntN(len(groundNames))]
	}
	if rng.IntN(10) == 0 {
		name += "/"
	}
	return name
}

func (w *twin) named(name string) memory { return str(strings.ReplaceAll(name, "DIR", w.dir)) }

func randomOperation(rng *rand.Rand) operation {
	a, b := randomName(rng), randomName(rng)
	pick := func(list ...int) int { return list[rng.IntN(len(list))] }
	dir, dir2 := pick(atFDCWD, atFDCWD, 30, 31, 32, 33, 99), pick(atFDCWD, atFDCWD, 30, 31, 32)
	mode := pick(0o600, 0o644, 0o666, 0o777, 0o755, 0o1777, 0o2750)
	one := func(name string, nr int, args func(*twin) []any) operation {
		return operation{fmt.Sprintf("%s %d/%.40q %d/%.40q %o", name, dir, a, dir2, b, mode), func(tb testing.TB, w *twin) string {
			tb.Helper()
			return w.call(tb, nr, args(w)...).String()
		}, isBeyond(a) || isBeyond(b)}
	}
	switch rng.IntN(20) {
	default:
		if rng.IntN(3) == 0 {
			return randomOpenat2(rng, dir, a, mode)
		}
		return randomOpen(rng, dir, a, mode)
	case 0, 1:
		return one("mkdirat", syscall.SYS_MKDIRAT, func(w *twin) []any { return []any{dir, w.named(a), mode} })
	case 2:
		return one("rmdir", syscall.SYS_UNLINKAT, func(w *twin) []any { return []any{dir, w.named(a), atRemoveDir} })
	case 3, 4:
		return one("unlink", syscall.SYS_UNLINKAT, func(w *twin) []any { return []any{dir, w.named(a), 0} })
	case 5, 6:
		if isBeyond(a) && a == b { // changes nothing, so it is not even asked about
			b = "f"
		}
		return one("renameat", syscall.SYS_RENAMEAT, func(w *twin) []any { return []any{dir, w.named(a), dir2, w.named(b)} })
	case 7:
		if isBeyond(a) && a == b {
			b = "f"
		}
		flags := pick(0, 1, 2, 3, 8)
		return one(fmt.Sprint("renameat2 ", flags), sysRenameat2, func(w *twin) []any { return []any{dir, w.named(a), dir2, w.named(b), flags} })
	case 8, 9:
		flags := pick(0, 0, 0x400, 0x2000)
		return one(fmt.Sprint("linkat ", flags), syscall.SYS_LINKAT, func(w *twin) []any { return []any{dir, w.named(a), dir2, w.named(b), flags} })
	case 10:
		if isBeyond(b) { // or every later name could lead there
			b = "d"
		}
		return one("symlinkat", syscall.SYS_SYMLINKAT, func(w *twin) []any { return []any{w.named(b), dir, w.named(a)} })
	case 11:
		kind := pick(0, syscall.S_IFREG, syscall.S_IFIFO, syscall.S_IFSOCK, syscall.S_IFDIR, syscall.S_IFLNK, syscall.S_IFCHR, syscall.S_IFBLK)
		return one(fmt.Sprintf("mknodat %o", kind), syscall.SYS_MKNODAT, func(w *twin) []any { return []any{dir, w.named(a), kind | mode, 1} })
	case 12:
		size := pick(0, 1, 7, -1)
		return one(fmt.Sprint("truncate ", size), syscall.SYS_TRUNCATE, func(w *twin) []any { return []any{w.named(a), size} })
	case 13:
		mask := pick(0, 0o22, 0o77, 0o27, 0o37) // the test must look into what is made
		return one("umask", syscall.SYS_UMASK, func(*twin) []any { return []any{mask} })
	case 14:
		return bindOperation(a)
	case 15:
		return temporaryOperation(a, b, mode)
	}
}

func bindOperation(name string) operation {
	return operation{fmt.Sprintf("bind %.40q", name), func(tb testing.TB, w *twin) string {
		tb.Helper()
		fd := w.call(tb, syscall.SYS_SOCKET, syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
		defer w.close(tb, int(fd.Value))
		path := strings.ReplaceAll(name, "DIR", w.dir)
		if len(path) > 100 || path == "" {
			return "E"
		}
		addr := memory(unixPath(path))
		return w.call(tb, syscall.SYS_BIND, int(fd.Value), addr, len(addr)).String()
	}, isBeyond(name)}
}

// temporaryOperation makes a file without a name, writes to it, and gives it
// one.
func temporaryOperation(dir, name string, mode int) operation {
	if isBeyond(dir) {
		dir = "d"
	}
	return operation{fmt.Sprintf("O_TMPFILE in %.40q linked as %.40q", dir, name), func(tb testing.TB, w *twin) string {
		tb.Helper()
		fd := w.call(tb, syscall.SYS_OPENAT, atFDCWD, w.named(dir), os.O_RDWR|0x410000, mode)
		if fd.Errno != 0 {
			return fd.String()
		}
		defer w.close(tb, int(fd.Value))
		n := w.call(tb, syscall.SYS_WRITE, int(fd.Value), memory("temp"), 4)
		link := w.call(tb, syscall.SYS_LINKAT, atFDCWD, str(fmt.Sprintf("/proc/self/fd/%d", fd.Value)), atFDCWD, w.named(name), 0x400)
		return fmt.Sprint(n, link)
	}, false}
}

// randomOpen opens, writes a little, and tells what kind of descriptor it is.
func randomOpen(rng *rand.Rand, dir int, name string, mode int) operation {
	flags := syscall.O_NONBLOCK | []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR, os.O_WRONLY}[rng.IntN(5)]
	for _, f := range []int{os.O_CREATE, os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND, syscall.O_NOFOLLOW, syscall.O_DIRECTORY, syscall.O_CLOEXEC} {
		if n := 4; rng.IntN(n) == 0 {
			flags |= f
		}
	}
	text := []byte("0123456789")[:rng.IntN(9)+1]
	return operation{fmt.Sprintf("open %d/%.40q %#x %o", dir, name, flags, mode), func(tb testing.TB, w *twin) string {
		tb.Helper()
		fd := w.call(tb, syscall.SYS_OPENAT, dir, w.named(name), flags, mode)
		if fd.Errno != 0 {
			return fd.String()
		}
		defer w.close(tb, int(fd.Value))
		n := int(fd.Value)
		written := w.call(tb, syscall.SYS_WRITE, n, memory(text), len(text))
		at := w.call(tb, syscall.SYS_LSEEK, n, 0, 1)
		status := w.call(tb, syscall.SYS_FCNTL, n, syscall.F_GETFL, 0)
		status.Value &^= syscall.O_NOFOLLOW // known difference: not in the flags of a brokered file
		inherit := w.call(tb, syscall.SYS_FCNTL, n, syscall.F_GETFD, 0)
		cut := w.call(tb, syscall.SYS_FTRUNCATE, n, 12)
		return fmt.Sprint(written, at, status, inherit, cut)
	}, isBeyond(name)}
}
