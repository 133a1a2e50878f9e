// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/stock"
	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// nestedRole is a child in a Landlock domain, whose ruleset is descriptor 3,
// under the filter for file calls; its first argument is the class.
const nestedRole = "nested"

// Classes of calls that the filter hands over.
const (
	classWrite = "write" // opens for reading stay the kernel's
	classRead  = "read"  // all opens
)

// playNested restricts itself, hands over its listener and becomes the next
// role: class, role, arguments.
func playNested(args []string) error {
	if err := giveUp(); err != nil {
		return err
	}
	if err := sys.LandlockRestrictSelf(3, 0); err != nil {
		return err
	}
	_ = syscall.Close(3)
	fd, err := sys.InstallFilter(nestedFilter(args[0]), sys.SeccompNewListener|sys.SeccompWaitKillableRecv)
	if err != nil {
		return err
	}
	fmt.Printf("%d\n", fd)
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	_ = syscall.Close(fd)
	return become(args[1:])
}

// nestedFilter hands over file calls.
func nestedFilter(class string) []byte {
	type insn struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	const (
		load   = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
		equal  = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
		anyOf  = syscall.BPF_JMP | syscall.BPF_JSET | syscall.BPF_K
		ret    = syscall.BPF_RET | syscall.BPF_K
		writes = syscall.O_WRONLY | syscall.O_RDWR | syscall.O_CREAT | syscall.O_TRUNC | sys.OpenTemporary
	)
	prog := []insn{{load, 0, 0, 0}}
	one := func(nr int32, body ...insn) {
		prog = append(prog, insn{equal, 0, uint8(len(body)), uint32(nr)})
		prog = append(prog, body...)
	}
	notify, allow := insn{ret, 0, 0, sys.SeccompRetUserNotif}, insn{ret, 0, 0, sys.SeccompRetAllow}
	for _, nr := range slices.Sorted(maps.Keys(fileCalls())) {
		if nr == syscall.SYS_EXECVE && class == classWrite || nr == nrExecveat && class == classWrite {
			continue
		}
		flags := map[string]uint32{"open": 24, "openat": 32}[fileCalls()[nr].name] // args[1], args[2]
		if flags == 0 || class == classRead {
			one(nr, notify)
			continue
		}
		one(nr, insn{load, 0, 0, flags}, insn{anyOf, 0, 1, uint32(writes)}, notify, allow)
	}
	prog = append(prog, allow)
	return unsafe.Slice((*byte)(unsafe.Pointer(&prog[0])), len(prog)*8)
}

// hostTree makes a tree of what stands on this host. The child needs the
// system's folders to run.
func hostTree(tb testing.TB, rules ...policy.PathRule) *plan.Tree {
	tb.Helper()
	exe, err := filepath.EvalSymlinks("/proc/self/exe")
	if err != nil {
		tb.Fatal(err)
	}
	for _, dir := range []string{filepath.Dir(exe), "/usr", "/lib", "/lib64", "/bin", "/proc", "/sys", "/etc"} {
		if _, err := os.Stat(dir); err == nil {
			rules = append(rules, policy.PathRule{Path: dir, Kind: policy.Read, Builtin: true})
		}
	}
	p, err := plan.Compile(&policy.Resolved{Rules: rules, WorkDir: rules[0].Path}, "", hostpath.New())
	if err != nil {
		tb.Fatal(err)
	}
	return p.Tree
}

// lowering makes a ruleset of a tree: uniform parts get one rule, folders with
// exceptions get rules for what stands in them, one by one.
type lowering struct {
	tb      testing.TB
	ruleset int
	land    *territory
	files   Files
}

// oldVariable, not empty, leaves the right to truncate out, as below ABI 3.
const oldVariable = "AMBIT_BROKER_TEST_OLD"

func allRights() probe.FS {
	if os.Getenv(oldVariable) != "" {
		return probe.FSTruncate - 1
	}
	return probe.FSTruncate<<1 - 1
}

func lower(tb testing.TB, tree *plan.Tree) (*os.File, *Files) {
	tb.Helper()
	fd, err := sys.LandlockCreateRuleset(sys.Ruleset{FS: uint64(allRights())})
	if err != nil {
		tb.Fatalf("the tests need Landlock ABI 3: %v", err)
	}
	l := &lowering{tb: tb, ruleset: fd, land: newTerritory(tree, &Files{}, identify), files: Files{Native: map[Inode]plan.Mode{}, Matched: map[Inode]*plan.Node{}, Truncate: allRights()&probe.FSTruncate != 0}}
	for _, n := range tree.Grants() {
		l.add(n.Path)
	}
	f := os.NewFile(uintptr(fd), "ruleset")
	tb.Cleanup(func() { _ = f.Close() })
	return f, &l.files
}

func (l *lowering) add(p string) {
	l.tb.Helper()
	var st syscall.Stat_t
	if err := syscall.Lstat(p, &st); err != nil {
		l.tb.Fatal(err)
	}
	kind := st.Mode & syscall.S_IFMT
	mode := l.land.tree.Mode(p)
	least, spine := l.land.spine[p]
	for _, m := range []plan.Mode{plan.None, plan.Read} { // what a pattern can take away
		if l.land.tree.Reached(p, m+1) == p {
			least, spine = m, true
			break
		}
	}
	if n := l.land.tree.Find(p); n != nil && n.Path == p && n.Rule.Pattern {
		l.files.Matched[Inode{uint64(st.Dev), st.Ino}] = n
	}
	if spine {
		mode = least
		var entries []os.DirEntry
		if kind == syscall.S_IFDIR {
			var err error
			if entries, err = os.ReadDir(p); err != nil {
				l.tb.Fatal(err)
			}
		}
		for _, e := range entries {
			l.add(join(p, e.Name()))
		}
	}
	// A rule is the inode's: it would hold under a forbidden name as well.
	if mode == plan.None || kind == syscall.S_IFLNK || kind == syscall.S_IFREG && st.Nlink > 1 {
		return
	}
	rights := probe.FSExecute | probe.FSReadFile | probe.FSReadDir
	if mode == plan.Write {
		rights = allRights()
	}
	if kind != syscall.S_IFDIR {
		rights &= probe.FSFile
	}
	fd, errno := sys.Pin(sys.AtCWD, p, sys.PinPlain)
	if errno == syscall.ELOOP {
		return // the name by which a link leads to a blocked place
	}
	if errno != 0 {
		l.tb.Fatal(errno)
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := sys.LandlockAllow(l.ruleset, uint64(rights), fd); err != nil {
		l.tb.Fatalf("rule for %s: %v", p, err)
	}
	l.files.Native[Inode{uint64(st.Dev), st.Ino}] = mode
}

// stockUp lays in folders for what a role makes, which has the place for it
// outside of its tree.
func stockUp(tb testing.TB, ruleset *os.File, files *Files, n int, place string) {
	tb.Helper()
	dev := identify(filepath.Dir(place)).Dev
	files.Stock = stock.Make(n, []uint64{dev}, []string{place}, func(string) bool { return true })
	tb.Cleanup(files.Stock.Close)
	laidIn := 0
	err := files.Stock.Each(func(fd int, dev, ino uint64) error {
		laidIn++
		files.Native[Inode{dev, ino}] = plan.Write
		return sys.LandlockAllow(int(ruleset.Fd()), uint64(probe.FSTruncate<<1-1), fd)
	})
	if err != nil || laidIn != n {
		tb.Fatalf("%d folders in store: %v", laidIn, err)
	}
}

// stockUpFiles lays in files for what a role executes.
func stockUpFiles(tb testing.TB, ruleset *os.File, files *Files, n int, dir string) {
	tb.Helper()
	files.Executable = map[Inode]bool{}
	files.Stock.MakeFiles(n, dir)
	err := files.Stock.EachFile(func(fd int, dev, ino uint64) error {
		files.Executable[Inode{dev, ino}] = true
		return sys.LandlockAllow(int(ruleset.Fd()), uint64(probe.FSExecute|probe.FSReadFile), fd)
	})
	if err != nil || len(files.Executable) != n {
		tb.Fatalf("%d files in store: %v", len(files.Executable), err)
	}
}

// classOf is the class of calls that a tree's exceptions and new places need.
func classOf(tree *plan.Tree) string {
	for _, n := range tree.Exceptions() {
		if n.Mode == plan.None {
			return classRead
		}
	}
	for _, p := range tree.Patterns() {
		if p.Mode == plan.None {
			return classRead
		}
	}
	for _, n := range tree.NewPlaces() {
		if n.Around == plan.None {
			return classRead
		}
	}
	return classWrite
}

// startNested runs a role in a sandbox that enforces a tree.
func startNested(tb testing.TB, tree *plan.Tree, role string, args ...string) (*subject, *Broker) {
	tb.Helper()
	ruleset, files := lower(tb, tree)
	s, listener := startConfined(tb, ruleset, classOf(tree), role, args...)
	return s, serve(tb, s, listener, Options{Tree: tree, Files: files})
}

// startConfined runs a role in a domain and under the filter of a class.
func startConfined(tb testing.TB, ruleset *os.File, class, role string, args ...string) (*subject, int) {
	tb.Helper()
	return filtered(tb, start(tb, nestedRole, []*os.File{ruleset}, append([]string{class, role}, args...)...))
}

// snapshot is all that stands below a folder: kinds, modes, inodes, content.
func snapshot(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	found := map[string]string{}
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprintf("%v %d %d", info.Mode(), st.Ino, st.Nlink)
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text += " " + string(b)
		case info.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(name)
			text += " " + to
		}
		found[strings.TrimPrefix(name, dir)] = text
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}
