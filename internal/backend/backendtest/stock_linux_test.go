// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stockAt is where a run keeps its stock, below the world's home.
const stockAt = "home/.local/state/ambit/stock"

// stocked returns the inodes that are in store, and in how many folders of runs
// under way, or killed.
func (w *world) stocked() (inodes map[uint64]bool, runs int) {
	w.Helper()
	inodes = map[uint64]bool{}
	err := filepath.WalkDir(w.at(stockAt), func(name string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), "free-") {
			return filepath.SkipDir
		}
		switch rel, _ := filepath.Rel(w.at(stockAt), name); filepath.Dir(rel) {
		case ".":
			if rel != "." {
				runs++
			}
		default:
			inodes[inodeAt(w, name)] = true
		}
		return nil
	})
	w.must(err)
	return inodes, runs
}

func inodeAt(w *world, name string) uint64 {
	w.Helper()
	var st syscall.Stat_t
	w.must(syscall.Lstat(name, &st))
	return st.Ino
}

// stepped is a command that says a line and waits for one before each next step.
type stepped struct {
	*world
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// inSteps runs steps of a shell in work.
func (w *world) inSteps(flags []string, steps ...string) *stepped {
	w.Helper()
	script := ""
	for _, s := range steps {
		script += s + " && echo done && read line || exit 9\n"
	}
	cmd := w.sandbox(flags, "/bin/sh", "-c", script)
	in, err := cmd.StdinPipe()
	w.must(err)
	out, err := cmd.StdoutPipe()
	w.must(err)
	cmd.Stderr = os.Stderr
	start(w, cmd)
	c := &stepped{w, cmd, in, bufio.NewReader(out)}
	c.step()
	return c
}

// step waits until a step is done.
func (c *stepped) step() {
	c.Helper()
	if line, err := c.out.ReadString('\n'); line != "done\n" {
		c.Fatalf("the command says %q: %v", line, err)
	}
}

func (c *stepped) next() {
	c.Helper()
	_, err := io.WriteString(c.in, "\n")
	c.must(err)
	c.step()
}

func (c *stepped) end() {
	c.Helper()
	_, err := io.WriteString(c.in, "\n")
	c.must(err)
	if ws := waitFor(c, c.cmd); ws.ExitStatus() != 0 {
		c.Errorf("ended with %d", ws.ExitStatus())
	}
}

func stockWorld(t *testing.T) *world {
	w := newWorld(t)
	if landlockABI() < abiRefer {
		t.Skip("no place can be blocked inside a writable one on this kernel (TestNested)")
	}
	w.must(os.Mkdir(w.at("work/closed"), 0o755))
	w.must(os.Chown(w.at("work"), -1, os.Getegid()))
	return w
}

// left checks what ended runs have left: free folders, with nothing but empty
// ones in them.
func (w *world) left(want int) {
	w.Helper()
	w.must(filepath.WalkDir(w.at(stockAt), func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			w.Errorf("%s is left", name)
		}
		return err
	}))
	for depth, pattern := range []string{"/*", "/free-*", "/*/*/*"} {
		found, err := filepath.Glob(w.at(stockAt) + pattern)
		w.must(err)
		if n := [...]int{want, want, 0}[depth]; len(found) != n {
			w.Errorf("%d times %s is left, not %d: %v", len(found), pattern, n, found)
		}
	}
}

// TestStock: a folder that is made beside a blocked place is one that the
// kernel knows already, and the others serve the next run.
func TestStock(t *testing.T) {
	for _, flag := range []string{"--block-write", "--block"} {
		t.Run(flag, func(t *testing.T) {
			w := stockWorld(t)
			c := w.inSteps(w.policyFlags(flag, w.at("work/closed")), "true", "mkdir new new/below && echo x >new/below/f && cat new/below/f >/dev/null")
			before, runs := w.stocked()
			if len(before) < 2 || runs != 1 {
				t.Fatalf("%d folders in store, of %d runs", len(before), runs)
			}
			c.next()
			if !before[inodeAt(w, w.at("work/new"))] {
				t.Error("the new folder is not out of the stock")
			}
			if after, _ := w.stocked(); len(after) != len(before)-1 {
				t.Errorf("%d folders in store, before %d", len(after), len(before))
			}
			c.end()
			w.left(1)
			again := w.inSteps(w.policyFlags(flag, w.at("work/closed")), "true")
			next, runs := w.stocked()
			if len(next) != len(before) || runs != 1 {
				t.Errorf("the next run has %d folders in store, of %d runs", len(next), runs)
			}
			used := inodeAt(w, w.at("work/new"))
			for inode := range before {
				if next[inode] == (inode == used) {
					t.Errorf("of the folders that the first run had left the next one has %v", next)
				}
			}
			again.end()
			w.left(1)
		})
	}
}

// TestStockClosed: the command can neither list nor name what is in store, and
// where it could there is none.
func TestStockClosed(t *testing.T) {
	w := stockWorld(t)
	c := w.inSteps(w.policyFlags("--block-write", w.at("work/closed")), "true",
		fmt.Sprintf("! ls %s && ! ls %s/* && ! cat /proc/$PPID/fd/* ", w.at(stockAt), w.at(stockAt)))
	if _, runs := w.stocked(); runs != 1 {
		t.Errorf("%d runs keep a stock", runs)
	}
	c.next()
	c.end()
	for _, flag := range []string{"--read", "--write"} {
		for _, granted := range []string{"home", "home/.local", "home/.local/state/ambit"} {
			w.must(os.MkdirAll(w.at(granted), 0o700))
			c := w.inSteps(w.policyFlags("--block-write", w.at("work/closed"), flag, w.at(granted)), "true")
			if in, _ := w.stocked(); len(in) != 0 {
				t.Errorf("%s %s: there are %d folders in store", flag, granted, len(in))
			}
			c.end()
		}
	}
}

// TestStockLeft: what a killed run leaves, a later one removes and does not
// use, since the killed one's command may be there still, and it touches none
// of what another one uses.
func TestStockLeft(t *testing.T) {
	w := stockWorld(t)
	flags := w.policyFlags("--block-write", w.at("work/closed"))
	killed, other := w.inSteps(flags, "true"), w.inSteps(flags, "true", "mkdir theirs")
	if _, runs := w.stocked(); runs != 2 {
		t.Fatalf("%d runs keep a stock, not 2", runs)
	}
	w.must(killed.cmd.Process.Kill())
	waitFor(t, killed.cmd)
	all, runs := w.stocked()
	held, err := filepath.Glob(w.at(stockAt) + "/*/*")
	w.must(err)
	for _, name := range held { // so that no new folder gets the inode of a removed one
		f, err := os.Open(name)
		w.must(err)
		t.Cleanup(func() { _ = f.Close() })
	}
	if runs != 2 {
		t.Errorf("%d runs' folders: a killed run can't remove its own", runs)
	}
	next := w.inSteps(flags, "true")
	if _, runs := w.stocked(); runs != 2 {
		t.Errorf("%d runs' folders: the killed one's is to go, the others' to stay", runs)
	}
	in, _ := w.stocked()
	kept := 0
	for inode := range in {
		if all[inode] {
			kept++
		}
	}
	if kept != len(in)/2 {
		t.Errorf("%d of %d folders were there before: all of the other run's, and none of the killed one's are to be", kept, len(in))
	}
	other.next()
	if !in[inodeAt(w, w.at("work/theirs"))] {
		t.Error("the other run has lost its stock")
	}
	other.end()
	next.end()
	w.left(2)
}
