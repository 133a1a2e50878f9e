// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"
	"path"
	"slices"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/backend"
	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/stock"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// foldersInStore is how many folders are kept for each file system. Each costs
// every run a mkdir, a rule and, if it was not used, a rmdir (BenchmarkMake).
const foldersInStore = 6

// layIn makes folders for later, and gives each the rule that a folder without
// exceptions below has in a write path.
func (m *mechanisms) layIn(p *plan.Plan, c *backend.Confinement) error {
	closed := func(name string) bool { return p.Tree.Mode(name) == plan.None }
	c.Files.Stock = stock.Make(foldersInStore, fileSystems(p.Tree), p.Places, closed)
	return c.Files.Stock.Each(func(fd int, dev, ino uint64) error {
		if err := sys.LandlockAllow(int(c.Ruleset.Fd()), uint64(m.access(plan.Write)), fd); err != nil {
			return fmt.Errorf("cannot add a rule for a folder in store: %w", err)
		}
		c.Files.Native[broker.Inode{Dev: dev, Ino: ino}] = plan.Write
		return nil
	})
}

// maxFileSystems bounds on how many file systems a stock is kept.
const maxFileSystems = 4

// fileSystems returns those of the writable folders that have an exception
// below them: in these the command may make what can't have a rule by itself.
func fileSystems(t *plan.Tree) []uint64 {
	var devs []uint64
	var folders []string
	for _, e := range t.Exceptions() {
		folders = append(folders, path.Dir(e.Path))
	}
	for _, p := range t.Patterns() {
		if !p.Endless(p.Base) { // else nothing below can have the rule
			folders = append(folders, p.Base)
		}
	}
	for _, p := range folders {
		for ; t.Mode(p) == plan.Write && len(devs) < maxFileSystems; p = path.Dir(p) {
			var st syscall.Stat_t
			if syscall.Lstat(p, &st) == nil && !slices.Contains(devs, uint64(st.Dev)) {
				devs = append(devs, uint64(st.Dev))
			}
			if p == "/" {
				break
			}
		}
	}
	return devs
}
