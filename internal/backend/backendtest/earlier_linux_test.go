// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// twice is an attack of two runs: the first command changes what a name means,
// the second run has the same flags.
type twice struct {
	// flags are those of both runs, env is added to their environment.
	flags, env []string
	// first is what the first command does, second what the second one tries.
	first, second string
	// says is what the second run's refusal names.
	says string
}

// TestEarlierRun: what a command leaves never chooses what a later run is
// granted, reads, or writes outside of the sandbox. As the control the second
// command runs beforehand too.
func TestEarlierRun(t *testing.T) {
	build := []string{"--write", "build"}
	for name, c := range map[string]twice{
		"write, a directory exchanged": {flags: build, first: "rmdir build && ln -s $HOME build", second: "cat build/.ssh/id", says: "work/build"},
		"write, missing":               {flags: []string{"--write", "new"}, first: "ln -s $HOME new", second: "cat new/.ssh/id", says: "work/new"},
		"write, by a policy file": {flags: []string{"--policy", "../home/build.json"}, first: "rmdir build && ln -s $HOME build",
			second: "cat build/.ssh/id", says: "work/build"},
		"write, the directory above": {flags: []string{"--write", "cache/a"}, first: "mv cache c2 && ln -s $HOME cache", second: "cat cache/a/key", says: "work/cache"},
		"write, by two links":        {flags: build, first: "rmdir build && ln -s $HOME h && ln -s h/.ssh build", second: "cat build/id", says: "work/build"},
		"read, missing":              {flags: []string{"--read", "data"}, first: "ln -s $HOME data", second: "cat data/.ssh/id", says: "work/data"},
		"work_dir":                   {flags: []string{"--work-dir", "sub"}, first: "", second: "cat id", says: "work/sub"},
		"secret": {flags: []string{"--secret", "TOK=file:.token"}, first: "rm .token && ln -s $HOME/.ssh/id .token",
			second: "echo $TOK", says: "work/.token"},
		"receipt": {flags: []string{"--receipt", "out/r.json"}, first: "mv out o2 && ln -s $HOME/.ssh out", second: "true", says: "work/out"},
		"policy file, exchanged": {flags: []string{"--policy", "conf/p.json"}, first: "mv conf c2 && ln -s $HOME/conf conf",
			second: "cat $HOME/.ssh/id", says: "work/conf"},
		"temporary folder": {flags: []string{"--private-tmp"}, env: []string{"TMPDIR=work/tmp"}, first: "rmdir tmp && ln -s $HOME/.ssh tmp",
			second: "ls $TMPDIR/..", says: "work/tmp"},
	} {
		t.Run(name, func(t *testing.T) { newWorld(t).twice(c) })
	}
}

// key is what the attacks are after.
const key = "PRIVATE KEY"

// furnish makes what the attacks change, and what they want.
func (w *world) furnish() {
	for _, dir := range []string{"home/.ssh", "home/a", "home/conf", "work/build", "work/cache/a", "work/out", "work/conf", "work/sub", "work/tmp"} {
		w.must(os.MkdirAll(w.at(dir), 0o755))
	}
	w.write("home/.ssh/id", key)
	w.write("home/a/key", key)
	w.write("work/.token", "a token")
	w.write("home/build.json", `{"extends": "workspace", "write_paths": ["${WORK_DIR}/build"]}`)
	w.write("work/conf/p.json", `{"extends": "workspace"}`)
	w.write("home/conf/p.json", `{"extends": "workspace", "read_paths": ["~/.ssh"]}`)
}

func (w *world) twice(c twice) {
	w.Helper()
	w.furnish()
	run := func(script string) result {
		cmd := w.sandbox(c.flags, "/bin/sh", "-c", script)
		for _, e := range c.env {
			cmd.Env = append(cmd.Env, strings.Replace(e, "=work", "="+w.at("work"), 1))
		}
		return finish(w, cmd)
	}
	if r := run("true"); r.code != 0 {
		w.Fatalf("control: ended with %d\n%s", r.code, r.stderr)
	}
	// What the first command may not do itself (conf holds a policy file that
	// is in use) a run with the default policy does.
	if r := run(c.first); r.code != 0 {
		succeed(w, w.sandbox(nil, "/bin/sh", "-c", c.first))
	}
	if c.says == "work/sub" { // this policy's own workspace is another directory
		succeed(w, w.sandbox(nil, "/bin/sh", "-c", "mv sub s2 && ln -s $HOME/.ssh sub"))
	}
	before := exact(w, w.at("home/.ssh"))
	r := run(c.second)
	if r.code != 125 || !strings.Contains(r.stderr, "symbolic link "+w.at(c.says)+",") || strings.Contains(r.stdout, key) {
		w.Errorf("the second run ended with %d\nstdout: %s\nstderr: %s", r.code, r.stdout, r.stderr)
	}
	if exact(w, w.at("home/.ssh")) != before {
		w.Error("the second run changed what the link leads to")
	}
}

// TestEarlierRunControls: names that lead through links are used where no
// command could have made the link, and where it leads to what is granted.
func TestEarlierRunControls(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	w.write("outside/secret", key)
	w.must(os.Symlink("outside", w.at("link")))
	succeed(t, w.sandbox(nil, "/bin/sh", "-c", "ln -s cache inside; ln -s ../work/.token token; touch made"))
	for _, c := range []struct {
		flags  []string
		script string
	}{
		{[]string{"--read", w.at("link")}, "grep -q '" + key + "' ../link/secret"},
		{[]string{"--write", w.at("link")}, "touch ../link/made"},
		{[]string{"--write", "inside"}, "touch inside/made"},
		{[]string{"--secret", "TOK=file:token"}, `test "$TOK" = "a token"`},
		{[]string{"--receipt", "../link/r.json"}, "true"},
		{[]string{"--policy", w.at("home/conf/p.json")}, "cat $HOME/.ssh/id"},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			succeed(t, w.sandbox(c.flags, "/bin/sh", "-c", c.script))
		})
	}
}

// TestEarlierRunBuiltin: what a built-in policy reads in the home, where it is
// there, is left out if a command could have put a link in its place. The rest
// of the policy holds.
func TestEarlierRunBuiltin(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	w.must(os.MkdirAll(w.at("home/.cargo/bin"), 0o755))
	w.write("home/.cargo/bin/tool", "a tool")
	succeed(t, w.sandbox(nil, "/bin/sh", "-c", "cat $HOME/.cargo/bin/tool"))
	succeed(t, w.sandbox([]string{"--write", "~/.cargo"}, "/bin/sh", "-c", "cd $HOME/.cargo && mv bin b2 && ln -s ../.ssh bin"))
	r := finish(t, w.sandbox([]string{"--receipt", w.at("r.json")}, "/bin/sh", "-c", "touch made && cat $HOME/.cargo/bin/id"))
	if r.code != 1 || !strings.Contains(r.stderr, "Permission denied") || strings.Contains(r.stdout, key) {
		t.Errorf("ended with %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	b, err := os.ReadFile(w.at("r.json"))
	w.must(err)
	if !strings.Contains(string(b), `"status": "untrusted"`) || !fileExists(w.at("work/made")) {
		t.Errorf("the receipt does not tell: %s", b)
	}
}

// TestPolicyFileKept: a policy file in the workspace is closed to the command
// that runs under it; one that a command of an earlier run could have written
// is refused.
func TestPolicyFileKept(t *testing.T) {
	w := newWorld(t)
	w.write("work/own.json", `{"extends": "workspace"}`)
	own := []string{"--policy", "own.json"}
	for _, script := range []string{"echo '{}' > own.json", "rm own.json", "mv own.json x", "ln -sf x own.json", "cp own.json y && mv y own.json"} {
		if r := finish(t, w.sandbox(own, "/bin/sh", "-c", script)); r.code == 0 {
			t.Errorf("%s: it worked", script)
		}
	}
	succeed(t, w.sandbox(own, "/bin/sh", "-c", "cat own.json && touch beside"))
	// A run without it leaves it open.
	succeed(t, w.sandbox(nil, "/bin/sh", "-c", "echo '{\"extends\": \"workspace\", \"read_paths\": [\"/\"]}' > own.json"))
	r := finish(t, w.sandbox(own, "/bin/true"))
	if r.code != 125 || !strings.Contains(r.stderr, "POLICY_INVALID") || !strings.Contains(r.stderr, "commands of earlier runs could write in "+w.at("work")) {
		t.Errorf("ended with %d\n%s", r.code, r.stderr)
	}
	// These names no command in a workspace can write.
	w.write("work/ambit.json", `{"extends": "workspace"}`)
	succeed(t, w.sandbox([]string{"--policy", "ambit.json"}, "/bin/true"))
	if r := finish(t, w.sandbox(nil, "/bin/sh", "-c", "echo > ambit.json")); r.code == 0 {
		t.Error("a command could write ambit.json")
	}
	succeed(t, w.sandbox([]string{"--policy", "ambit.json"}, "/bin/true"))
	succeed(t, w.sandbox([]string{"--unprotect", "ambit"}, "/bin/sh", "-c", "echo '{\"extends\": \"none\"}' > ambit.json"))
	if r := finish(t, w.sandbox([]string{"--policy", "ambit.json"}, "/bin/true")); r.code != 125 {
		t.Errorf("after a run that could write it: ended with %d\n%s", r.code, r.stderr)
	}
}

// TestRecordClosed: a command that is granted the home for writing can't change
// Ambit's own record of what commands could write.
func TestRecordClosed(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	home := []string{"--extends", "system", "--write", "~"}
	succeed(t, w.sandbox(home, "/bin/sh", "-c", "touch ~/made"))
	record := w.at("home/.local/state/ambit/written")
	before := exact(w, record)
	for _, script := range []string{"rm ~/.local/state/ambit/written", "echo > ~/.local/state/ambit/written", "mv ~/.local ~/l", "mv ~/.local/state ~/s", "chmod 777 ~/.local/state/ambit"} {
		if r := finish(t, w.sandbox(home, "/bin/sh", "-c", script)); r.code == 0 {
			t.Errorf("%s: it worked", script)
		}
	}
	if after := exact(w, record); after != before {
		t.Errorf("the record changed from %s to %s", before, after)
	}
}

// TestRecordBehindLinks: the same where links lead to the record, as dotfiles
// managers make them. The command can't replace them either.
func TestRecordBehindLinks(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	w.must(os.MkdirAll(w.at("outside/local/state"), 0o700))
	w.must(os.Symlink("../outside/local", w.at("home/.local")))
	home := []string{"--extends", "system", "--write", "~"}
	succeed(t, w.sandbox(home, "/bin/sh", "-c", "touch ~/made"))
	before := exact(w, w.at("outside/local/state/ambit/written"))
	for _, script := range []string{"rm ~/.local", "mv ~/.local ~/l", "ln -sfn .ssh ~/.local", "echo > ~/.local/state/ambit/written"} {
		if r := finish(t, w.sandbox(home, "/bin/sh", "-c", script)); r.code == 0 {
			t.Errorf("%s: it worked", script)
		}
	}
	if after := exact(w, w.at("outside/local/state/ambit/written")); after != before {
		t.Errorf("the record changed from %s to %s", before, after)
	}
}

// TestNoRecord: where no record can be kept, links that the user made could be
// a command's.
func TestNoRecord(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	w.must(os.Symlink("outside", w.at("link")))
	nowhere := func(flags ...string) result {
		cmd := w.sandbox(flags, "/bin/true")
		cmd.Env = append(cmd.Env, "XDG_STATE_HOME=/proc/none")
		return finish(t, cmd)
	}
	if r := nowhere("--read", w.at("link")); r.code != 125 || !strings.Contains(r.stderr, "symbolic link "+w.at("link")) {
		t.Errorf("through a link: ended with %d\n%s", r.code, r.stderr)
	}
	if r := nowhere("--read", w.at("outside")); r.code != 0 {
		t.Errorf("without one: ended with %d\n%s", r.code, r.stderr)
	}
}

// TestEarlierRunShell: a shell that came to its directory through a link which
// a command could have made does not start a run there.
func TestEarlierRunShell(t *testing.T) {
	w := newWorld(t)
	w.furnish()
	w.must(os.Symlink("outside", w.at("link")))
	succeed(t, w.sandbox(nil, "/bin/sh", "-c", "mv sub s2 && ln -s $HOME/.ssh sub && ln -s build inside"))
	for _, c := range []struct {
		dir  string
		code int
	}{{"work/sub", 125}, {"work/inside", 0}, {"link", 0}, {"work/s2", 0}} {
		cmd := exec.Command("/bin/sh", "-c", "cd "+w.at(c.dir)+" && exec $AMBIT_BIN run -- /bin/true")
		cmd.Env = append(w.environ(), "AMBIT_BIN="+os.Getenv("AMBIT_BIN"))
		r := finish(t, cmd)
		if r.code != c.code || c.code != 0 && !strings.Contains(r.stderr, "symbolic link "+w.at(c.dir)+",") {
			t.Errorf("%s: ended with %d\n%s", c.dir, r.code, r.stderr)
		}
	}
}
