// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mark makes a word that only this test's processes have as an argument.
func (w *world) mark() string { return fmt.Sprintf("ambit-mark-%016x", rand.Uint64()) }

// marked lists the processes with the mark that stay: "hold" and "wait".
func (w *world) marked(mark string) (pids []int) {
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	w.must(err)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		args := strings.Split(string(bytes.TrimRight(b, "\x00")), "\x00")
		if slices.Contains(args, mark) && !slices.Contains(args, "run") && !slices.Contains(args, "__launch") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone fails if a marked process is left, and ends it.
func (w *world) gone(mark string) {
	w.Helper()
	for _, pid := range w.marked(mark) {
		w.Errorf("process %d of the command is left", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestTreeEnds: when the command ends, everything it left ends, and the call
// returns at once, although outputs are held open.
func TestTreeEnds(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"direct", nil},
		{"json", []string{"--json"}},
		{"output limit", []string{"--output-limit", "1000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range times(3) {
				mark := w.mark()
				r := finish(t, w.sandbox(w.policyFlags(c.flags...), self(t), probeArg, "spread", mark))
				if r.code != 0 || r.took > patience(4*time.Second) {
					t.Errorf("ended with %d after %v, want 0 at once\n%s", r.code, r.took, r.stderr)
				}
				w.gone(mark)
			}
		})
	}
}

// family starts a command that has spread, and waits until all of it is there.
func (w *world) family(mark string) *exec.Cmd {
	w.Helper()
	script := fmt.Sprintf("echo \"$TMPDIR\" > tmpdir; : > \"$TMPDIR/file\"; %s op spread %s; exec %[1]s op wait %[2]s", self(w), mark)
	cmd := w.sandbox(w.policyFlags(), "/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	start(w, cmd)
	eventually(w, "the command has spread", func() bool { return len(w.marked(mark)) == spreadCount+1 })
	return cmd
}

// tmpGone fails if the private temporary folder is still there.
func (w *world) tmpGone() {
	w.Helper()
	b, err := os.ReadFile(w.at("work/tmpdir"))
	w.must(err)
	dir := strings.TrimSpace(string(b))
	if !strings.HasPrefix(dir, "/") {
		w.Fatalf("the command's TMPDIR was %q", dir)
	}
	eventually(w, "the private temporary folder is removed", func() bool { return !fileExists(dir) })
}

// TestKilled: SIGKILL of ambit itself, of its launcher, or of ambit's whole
// process group ends the tree, and removes the private temporary folder.
func TestKilled(t *testing.T) {
	for _, who := range []string{"ambit", "launcher", "command", "group"} {
		t.Run(who, func(t *testing.T) {
			for range times(3) {
				w := newWorld(t)
				mark := w.mark()
				cmd := w.family(mark)
				pid := cmd.Process.Pid
				switch who {
				case "launcher":
					pid = w.launcherOf(pid)
				case "group":
					pid = -pid
				case "command":
					pid = w.childrenOf(w.launcherOf(pid))[0]
				}
				w.must(syscall.Kill(pid, syscall.SIGKILL))
				ws := waitFor(t, cmd)
				eventually(t, "all of the command is gone", func() bool { return len(w.marked(mark)) == 0 })
				w.tmpGone()
				switch {
				case (who == "ambit" || who == "group") && ws.Signal() != syscall.SIGKILL:
					t.Errorf("ambit ended with %v", ws)
				case who == "launcher" && (ws.ExitStatus() == 0 || ws.Signaled()):
					t.Errorf("after its launcher was killed, ambit ended with %v, want a failure", ws)
				case who == "command" && ws.ExitStatus() != 128+9:
					t.Errorf("ambit ended with %v, want 137", ws)
				}
			}
		})
	}
}

// childrenOf lists a process's children, by the fourth field of /proc/PID/stat.
func (w *world) childrenOf(parent int) (pids []int) {
	w.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	w.must(err)
	began := map[int]int{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			began[pid], _ = strconv.Atoi(fields[19]) // starttime, proc_pid_stat(5)
			pids = append(pids, pid)
		}
	}
	// The oldest first: names sort 10000 before 9999, and numbers start anew.
	slices.SortFunc(pids, func(a, b int) int { return cmp.Or(began[a]-began[b], a-b) })
	return pids
}

func (w *world) launcherOf(ambit int) int {
	w.Helper()
	children := w.childrenOf(ambit)
	if len(children) != 1 {
		w.Fatalf("ambit has the children %v, want its launcher alone", children)
	}
	return children[0]
}

// TestMovingTree: a tree that grows, or moves on, while it is being ended. A
// chain in which each process starts the next and ends is the hardest: what
// is listed is gone when the list is read.
func TestMovingTree(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ name, script string }{
		{"growing", `case $2 in 0) ;; *) sh "$0" $1 $(($2-1)) & sh "$0" $1 $(($2-1)) & ;; esac; sleep 60`},
		{"moving", `case $2 in 0) sleep 60 ;; *) setsid sh "$0" $1 $(($2-1)) & ;; esac`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range times(4) {
				mark := w.mark()
				w.write("work/script", c.script)
				depth := map[string]string{"growing": "6", "moving": "400"}[c.name]
				start := fmt.Sprintf("sh ./script %s %s & sleep 0.1", mark, depth)
				r := finish(t, w.sandbox(nil, "/bin/sh", "-c", start))
				if r.code != 0 || r.took > patience(12*time.Second) {
					t.Errorf("ended with %d after %v\n%s", r.code, r.took, r.stderr)
				}
				for range 5 {
					w.gone(mark)
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
}
