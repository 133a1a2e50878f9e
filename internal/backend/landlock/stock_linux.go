// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/seccomp"
	"github.com/ambit-sandbox/ambit/internal/stock"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// foldersInStore is how many folders are kept for each file system. Each costs
// every run a look and a rule (BenchmarkReuse); where none is left of an earlier
// run, a mkdir more (BenchmarkMake).
const foldersInStore = 6

// layIn makes folders for later, and gives each the rule that a folder without
// exceptions below has in a write path.
func (m *mechanisms) layIn(p *plan.Plan, c *backend.Confinement) error {
	closed := func(name string) bool { return p.Tree.Mode(name) == plan.None }
	c.Files.Stock = stock.Make(foldersInStore, slices.Collect(maps.Keys(around(p.Tree, roomy, plan.Read))), p.Places, closed)
	err := c.Files.Stock.Each(func(fd int, dev, ino uint64) error {
		if err := sys.LandlockAllow(int(c.Ruleset.Fd()), uint64(m.access(plan.Write)), fd); err != nil {
			return fmt.Errorf("cannot add a rule for a folder in store: %w", err)
		}
		c.Files.Native[broker.Inode{Dev: dev, Ino: ino}] = plan.Write
		return nil
	})
	if err == nil && m.filter.Files == seccomp.FilesAll {
		err = m.layInFiles(p, c)
	}
	return err
}

// layInFiles makes files for later, and gives each the rule that a file beside
// an exception has: it can be read and executed. Writing stays the broker's.
func (m *mechanisms) layInFiles(p *plan.Plan, c *backend.Confinement) error {
	folders := around(p.Tree, unreadable, plan.None)
	if !sys.HasDescriptors(descriptorsInUse + len(folders)*filesInStore) {
		return nil
	}
	for _, dir := range folders {
		c.Files.Stock.MakeFiles(filesInStore, dir)
	}
	return c.Files.Stock.EachFile(func(fd int, dev, ino uint64) error {
		if err := sys.LandlockAllow(int(c.Ruleset.Fd()), uint64(m.access(plan.Read)&probe.FSFile), fd); err != nil {
			return fmt.Errorf("cannot add a rule for a file in store: %w", err)
		}
		c.Files.Executable[broker.Inode{Dev: dev, Ino: ino}] = true
		return nil
	})
}

// descriptorsInUse is how many descriptors a run has without any in store, and
// some to spare.
const descriptorsInUse = 128

// maxFileSystems bounds on how many file systems a stock is kept.
const maxFileSystems = 4

// roomy leaves out the folders around a pattern that can mean something at any
// depth: nothing below these can have the rule of a folder in store.
func roomy(p plan.Pattern) bool { return !p.Endless(p.Base) }

// unreadable leaves out those around a pattern that leaves what it means
// readable: what is made there can be executed anyway.
func unreadable(p plan.Pattern) bool { return p.Mode == plan.None }

// around returns a directory for each file system on which the command may make
// what can't have a rule by itself: around an exception, around a pattern that
// counts, or around a new place, in a directory with no more than most.
func around(t *plan.Tree, counts func(plan.Pattern) bool, most plan.Mode) map[uint64]string {
	folders := writableAround(t, counts)
	for _, n := range t.NewPlaces() {
		if n.Around > most || len(folders) == maxFileSystems {
			continue
		}
		if dev, dir, found := existing(path.Dir(n.Path)); found && folders[dev] == "" {
			folders[dev] = dir
		}
	}
	return folders
}

// existing returns the nearest directory at or above a path that is there, and
// its file system.
func existing(dir string) (dev uint64, name string, found bool) {
	for ; ; dir = path.Dir(dir) {
		var st syscall.Stat_t
		if syscall.Lstat(dir, &st) == nil {
			return uint64(st.Dev), dir, st.Mode&syscall.S_IFMT == syscall.S_IFDIR
		}
		if dir == "/" {
			return 0, "", false
		}
	}
}

// writableAround returns writable folders that have an exception below them,
// or a pattern that counts, one for each file system: in these the command may
// make what can't have a rule by itself.
func writableAround(t *plan.Tree, counts func(plan.Pattern) bool) map[uint64]string {
	var starts []string
	for _, e := range t.Exceptions() {
		starts = append(starts, path.Dir(e.Path))
	}
	for _, p := range t.Patterns() {
		if counts(p) {
			starts = append(starts, p.Base)
		}
	}
	folders, seen := map[uint64]string{}, map[string]bool{}
	for _, p := range starts {
		for ; !seen[p] && t.Mode(p) == plan.Write && len(folders) < maxFileSystems; p = path.Dir(p) {
			seen[p] = true
			var st syscall.Stat_t
			if syscall.Lstat(p, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR && folders[uint64(st.Dev)] == "" {
				folders[uint64(st.Dev)] = p
			}
			if p == "/" {
				break
			}
		}
	}
	return folders
}
