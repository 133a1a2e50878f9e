// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// Exit codes of scripts: of the command's own, and of the blocked one.
const (
	ownExit    = 5
	stolenExit = 77
)

func script(exit int) string { return fmt.Sprintf("#!/bin/sh\nexit %d\n", exit) }

// TestExecRace has threads that change what is executed while it is given a
// rule: the name, a link, the folder, the content. The blocked program, which
// anybody else may execute, never runs and is never copied.
func TestExecRace(t *testing.T) {
	length := raceTime(t)
	f := makeField(t)
	if err := os.WriteFile(f.r+"/victim", []byte(script(stolenExit)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(f.r+"/victim", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(f.r + "/victim").Run(); exitOf(err) != stolenExit {
		t.Fatalf("the blocked program does not run outside: %v", err)
	}
	tree := f.tree(t, policy.Blocked)
	ruleset, files := lower(t, tree)
	stockUp(t, ruleset, files, 4, filepath.Dir(f.dir)+"/place")
	stockUpFiles(t, ruleset, files, 600, f.dir)
	f.fill(t)
	before := f.look(t)
	s, listener := startConfined(t, ruleset, classOf(tree), "runners", f.w, f.r, length.String())
	serve(t, s, listener, Options{Tree: tree, Files: files})
	tries := stormResult(t, s, length)
	t.Logf("%v", tries)
	if diff := cmp.Diff(before, f.look(t)); diff != "" {
		t.Errorf("the exception was changed: %s", diff)
	}
	ran := int64(0)
	for name, n := range tries {
		switch {
		case strings.HasPrefix(name, "run"):
			ran += n.Worked
		case n.Worked > 0:
			t.Errorf("%s: %d times", name, n.Worked)
		}
	}
	if ran == 0 {
		t.Error("nothing ran at all")
	}
	err := filepath.WalkDir(f.w, func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if string(b) == script(stolenExit) {
			t.Errorf("%s holds what is blocked", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func exitOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// playRunners executes what others change: w, r, duration.
func playRunners(args []string) error {
	length, err := time.ParseDuration(args[2])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(16)
	a := &attacker{w: args[0], r: args[1], end: time.Now().Add(length), tries: map[string]*tally{"stolen runs": {}, "stolen text": {}}}
	if err := os.Chdir(a.w); err != nil {
		return err
	}
	make := func(name string) {
		tmp := name + ".tmp"
		_ = os.Remove(tmp)
		_ = os.WriteFile(tmp, []byte(script(ownExit)), 0o755)
		_ = os.Rename(tmp, name)
	}
	for _, name := range []string{"prog", "y", "d/victim"} {
		make(name)
	}
	a.swinging(func(i int) { // the name: a program, and a link to the blocked one
		if i%2 == 0 {
			make("prog")
		} else {
			_ = os.Symlink("../r/victim", "prog.link")
			_ = os.Rename("prog.link", "prog")
		}
		time.Sleep(time.Duration(i%7) * 5 * time.Millisecond)
	})
	a.swinging(func(i int) { // the folder
		d, dl := str("d"), str("dl")
		_, _, _ = syscall.Syscall6(sysRenameat2, sysCWD, pointer(d), sysCWD, pointer(dl), sys.RenameExchange, 0)
		if i%50 == 0 {
			make("d/victim")
		}
		time.Sleep(time.Duration(i%3) * 100 * time.Microsecond)
	})
	a.swinging(func(i int) { // the content
		if f, err := os.OpenFile("y", os.O_WRONLY|os.O_TRUNC, 0); err == nil {
			_, _ = f.WriteString(script(ownExit))
			_ = f.Close()
		}
		if i%20 == 0 {
			make("y")
		}
		time.Sleep(time.Millisecond)
	})
	for _, name := range []string{"prog", "d/victim", "y"} {
		for range 2 {
			a.calling("run "+name+fmt.Sprint(len(a.tries)), func(int) syscall.Errno { return a.runOnce(name) })
		}
	}
	a.group.Wait()
	return json.NewEncoder(os.Stdout).Encode(a.tries)
}

func (a *attacker) runOnce(name string) syscall.Errno {
	if b, err := os.ReadFile(name); err == nil && string(b) == script(stolenExit) {
		a.tries["stolen text"].Worked++
	}
	p, err := os.StartProcess(name, []string{name}, &os.ProcAttr{Env: []string{}})
	if err != nil {
		return syscall.EACCES
	}
	ps, err := p.Wait()
	switch {
	case err != nil:
		return syscall.ECHILD
	case ps.ExitCode() == stolenExit:
		a.tries["stolen runs"].Worked++
	case ps.ExitCode() == ownExit:
		return 0
	}
	return syscall.EIO
}

// TestExecAnswers compares executing natively and out of the stock: what is
// answered, and what the file is like afterwards.
func TestExecAnswers(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dirs := [2]string{base + "/nat", base + "/bro"}
	var twins [2]*twin
	for i, dir := range dirs {
		if err := os.MkdirAll(dir+"/kept", 0o755); err != nil {
			t.Fatal(err)
		}
		w := &twin{dir: dir}
		if i == 0 {
			w.subject = start(t, roleBare, nil, "runs")
		} else {
			tree := hostTree(t, policy.PathRule{Path: dir, Kind: policy.Write}, policy.PathRule{Path: dir + "/kept", Kind: policy.Blocked})
			ruleset, files := lower(t, tree)
			stockUp(t, ruleset, files, 1, base+"/place")
			stockUpFiles(t, ruleset, files, 64, dir)
			s, listener := startConfined(t, ruleset, classOf(tree), "runs")
			serve(t, s, listener, Options{Tree: tree, Files: files})
			w.subject = s
		}
		twins[i] = w
	}
	for _, c := range []struct {
		name, content string
		mode          os.FileMode
		prepare       func(file string) (undo func(), err error)
		kept          bool // it is not replaced, since it could not be
		want          string
	}{
		{name: "script", content: script(ownExit), mode: 0o755, want: "5"},
		{name: "owner's alone", content: script(ownExit), mode: 0o700, want: "5"},
		{name: "setuid and setgid", content: script(ownExit), mode: 0o755 | os.ModeSetuid | os.ModeSetgid, want: "5"},
		{name: "not executable", content: script(ownExit), mode: 0o644, want: "EACCES"},
		{name: "no format", content: "\x01\x02\x03", mode: 0o755, want: "ENOEXEC"},
		{name: "empty", content: "", mode: 0o755, want: "ENOEXEC"},
		{name: "missing interpreter", content: "#!/nowhere/to/be/found\n", mode: 0o755, want: "ENOENT"},
		{name: "arguments", content: "#! \t/bin/sh  -e\nfalse\nexit 1\n", mode: 0o755, want: "1"},
		{name: "old, with attributes", content: script(ownExit), mode: 0o755, want: "5", prepare: func(file string) (func(), error) {
			old := time.Unix(1e9, 123456789)
			return nil, errors.Join(syscall.Setxattr(file, "user.t", []byte("value"), 0), os.Chtimes(file, old, old))
		}},
		{name: "open for writing", content: script(ownExit), mode: 0o755, want: "ETXTBSY", prepare: func(file string) (func(), error) {
			f, err := os.OpenFile(file, os.O_WRONLY, 0)
			return func() { _ = f.Close() }, err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got [2]string
			for i, dir := range dirs {
				file := dir + "/" + strings.ReplaceAll(c.name, " ", "-")
				if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(file, c.mode); err != nil {
					t.Fatal(err)
				}
				if c.prepare != nil {
					undo, err := c.prepare(file)
					if err != nil {
						t.Fatal(err)
					}
					if undo != nil {
						defer undo()
					}
				}
				before := stateOf(t, file)
				if _, err := fmt.Fprintln(twins[i].in, file); err != nil {
					t.Fatal(err)
				}
				answer, err := twins[i].out.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				s := stateOf(t, file)
				text, err := os.ReadFile(file)
				if err != nil || string(text) != c.content {
					t.Errorf("it holds %q: %v", text, err)
				}
				if s.Mode != before.Mode || s.UID != before.UID || s.GID != before.GID || s.Links != 1 || s.Mtime != before.Mtime || !cmp.Equal(s.Attributes, before.Attributes) {
					t.Errorf("before %+v, after %+v", before, s)
				}
				if answer != c.want+"\n" {
					t.Errorf("in %s: %q, not %q", dir, answer, c.want)
				}
				got[i] = answer
			}
			if got[0] != got[1] {
				t.Errorf("native %q, out of the stock %q", got[0], got[1])
			}
			if list, err := filepath.Glob(dirs[1] + "/.ambit*"); err != nil || len(list) > 0 {
				t.Errorf("left: %v, %v", list, err)
			}
		})
	}
}

// playRuns executes the files that come in on stdin and says how they ended.
func playRuns([]string) error {
	for {
		var file string
		if _, err := fmt.Scanln(&file); err != nil {
			return nil
		}
		p, err := os.StartProcess(file, []string{file}, &os.ProcAttr{Env: []string{}})
		if err != nil {
			fmt.Println(sys.ErrnoName(err))
			continue
		}
		ps, err := p.Wait()
		if err != nil {
			return err
		}
		fmt.Println(ps.ExitCode())
	}
}
