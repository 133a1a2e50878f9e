// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// job is a script of real tools that works in a project, and comes to the same
// inside as outside.
type job struct {
	name   string
	script string
	// flags are needed inside besides those of all jobs.
	flags []string
}

var jobs = []job{
	{"tar", `mkdir out && tar cf out/a.tar src && tar xpf out/a.tar -C out && tar xf out/a.tar -C . src/deep --transform s/src/again/ && rm out/a.tar &&
		find out/src again -type f -printf '%P %y %m %n %s %T@\n' | sort`, nil},
	{"gzip", `gzip -k src/a.txt && gzip -dc src/a.txt.gz && gzip src/b.txt && gzip -d src/b.txt.gz && ls -l --time-style=+%s src/b.txt | cut -d' ' -f1,5-`, nil},
	{"cp", `cp -a src copy && cp -al src links && cp -rs "$PWD/src" symlinks && cp --preserve=all src/run.sh run2.sh && ./run2.sh &&
		{ find copy run2.sh ! -type l -printf '%P %y %m %n %T@\n'; find links symlinks -printf '%P %y %m %n %l\n'; } | sort`, nil},
	{"mv", `mv src/a.txt src/deep/ && mv src moved && mv moved/deep . && mv -n deep/a.txt deep/c.txt; mv -f deep/a.txt deep/c.txt; mv deep moved/deep2 && find . -name c.txt`, nil},
	{"ln", `ln src/a.txt hard && ln -s src soft && ln -sfn src/deep soft && ln -f src/b.txt hard && cat hard soft/c.txt && stat -c %h src/b.txt src/a.txt`, nil},
	{"rm", `cp -r src gone && rm gone/a.txt && rm -rf gone && rm -r src/deep && rmdir src; ls src; rm nothing`, nil},
	{"find", `find src -type f -exec touch -d @1000 {} + && find src -newer Makefile; find src -name '*.txt' -delete; find src | sort`, nil},
	{"sed", `sed -i s/alpha/beta/ src/a.txt && cat src/a.txt && sed -i.bak s/beta/gamma/ src/a.txt && ls src && stat -c %a src/run.sh && sed -i s/hello/bye/ src/run.sh && stat -c %a src/run.sh && src/run.sh`, nil},
	{"install", `install -d bin/sub && install -m 750 src/run.sh bin/tool && bin/tool && install -D -m 600 src/a.txt bin/x/y/a && find bin -printf '%P %y %m\n' | sort`, nil},
	{"modes", `umask 027; mkdir -p m/n && : >m/f && chmod 2750 m && chmod -R u+x,g-w m && chmod a=rx m/f; mkdir m/o; stat -c '%n %a' m m/* && touch -d @1234567890 m/f && stat -c %Y m/f && chmod 0 m/f; cat m/f; chmod 600 m/f`, nil},
	{"dd", `dd if=/dev/zero of=z bs=1k count=4 2>/dev/null && dd if=src/a.txt of=z bs=1 seek=100 conv=notrunc 2>/dev/null && truncate -s 4000 z && truncate -s +100 z && cksum <z && fallocate -l 8192 z2; stat -c %s z`, nil},
	{"shell", `set -C; echo one >n; echo two >n; echo three >>n; cat n; exec 3<>n; echo 1 >&3; cat <&3; cat /dev/stdin <n >/dev/stdout; mkfifo p && (echo through >p & cat p; wait); cat <<X
heredoc
X
		cd src/deep && pwd -P | sed "s,.*/src,src," && cat ../a.txt ./c.txt ../../src/deep/../b.txt`, nil},
	{"locks", `exec 9>l; flock -n 9 && flock -n l echo twice; echo $?; flock -u 9; flock -n l echo once`, nil},
	{"mktemp", `t=$(mktemp) && echo x >$t && case $t in "$TMPDIR"/*) echo private;; esac; cp $t here && rm $t; d=$(mktemp -d -p .) && : >$d/f && rm -r $d; ls`, nil},
	{"make", `make -s -j4 && cat out/all && touch src/a.txt && make -s && make -s clean && ls`, nil},
	{"diff", `cp -r src new && echo more >>new/a.txt && diff -ru src new | grep -v '^[-+][-+][-+]' ; cmp src/a.txt new/a.txt; cp new/a.txt src/a.txt`, nil},
	{"git", `set -e; git status --short; echo more >>src/a.txt; git add -A; git commit -qm two; git checkout -qb side; git mv src/b.txt src/bb.txt; git commit -qam three; git checkout -q main
		echo x >>src/deep/c.txt; git stash -q; git stash pop -q; git diff --stat; git commit -qam four; git merge -q -m merged side; git rebase -q HEAD~1; git tag v1; git rm -q src/a.txt; git reset -q --hard
		git clean -fdxq out; git log --format=%s; git branch -q -D side; git gc -q --prune=now; git fsck; git ls-files -s`, []string{"--unprotect", "git-config"}},
	{"git clone", `set -e; git clone -q . copy; cd copy; echo y >>src/a.txt; git commit -qam inner; git log --format=%s; git push -q origin HEAD:inner; cd ..; git merge -q inner; git log --format=%s`, nil},
	{"git worktree", `set -e; git worktree add -q wt -b side; cd wt; echo z >>src/a.txt; git commit -qam side; cd ..; git worktree list | wc -l; git worktree remove wt; git merge -q side; git log --format=%s`, []string{"--unprotect", "git-worktrees"}},
	{"python files", `python3 -c '
import os, shutil, tempfile, zipfile, pathlib, mmap
shutil.copytree("src", "tree", symlinks=True); shutil.move("tree/deep", "tree2"); shutil.rmtree("tree")
with tempfile.TemporaryDirectory(dir=".") as d: pathlib.Path(d, "f").write_text("x")
with tempfile.NamedTemporaryFile(dir=".") as f: f.write(b"named"); f.flush(); os.link(f.name, "kept")
with zipfile.ZipFile("z.zip", "w") as z: z.write("src/a.txt")
zipfile.ZipFile("z.zip").extractall("unzipped")
with open("map", "wb+") as f:
    f.truncate(8192); m = mmap.mmap(f.fileno(), 8192); m[4000:4005] = b"abcde"; m.flush()
os.replace("map", "map2"); print(os.path.getsize("map2"), open("map2","rb").read()[4000:4005], sorted(os.listdir("tree2")))
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o640); os.write(fd, b"tmp"); os.link(f"/proc/self/fd/{fd}", "fromtmp", follow_symlinks=True); print(oct(os.stat("fromtmp").st_mode))
d = os.open("src", os.O_RDONLY); os.mkdir("made", dir_fd=d); os.rename("made", "made2", src_dir_fd=d, dst_dir_fd=d); print(os.listdir(d).count("made2"))
try: os.open("src/a.txt", os.O_CREAT | os.O_EXCL)
except OSError as e: print(e.errno)
os.utime("src/a.txt", ns=(1, 2)); print(os.stat("src/a.txt").st_mtime_ns)
try:
    os.setxattr("src/a.txt", "user.x", b"v"); print(os.getxattr("src/a.txt", "user.x"), os.listxattr("src/a.txt")); os.removexattr("src/a.txt", "user.x")
except OSError as e: print(e.errno)
' ; rm z.zip`, nil},
	{"sqlite", `python3 -c '
import sqlite3
for mode in ("delete", "wal", "truncate"):
    c = sqlite3.connect("d.sqlite"); c.execute("pragma journal_mode=" + mode); c.execute("create table if not exists t (x)")
    with c: c.executemany("insert into t values (?)", [(i,) for i in range(200)])
    print(mode, c.execute("select sum(x) from t").fetchone()); c.execute("vacuum"); c.close()
'; ls; rm d.sqlite*`, nil},
	{"python processes", `python3 -c '
import multiprocessing as m, subprocess, concurrent.futures as f, os, signal
def work(c): c.send(sum(range(1000))); c.close()
a, b = m.Pipe(); p = m.get_context("fork").Process(target=work, args=(b,)); p.start(); print(a.recv()); p.join(); print(p.exitcode)
with f.ThreadPoolExecutor(8) as x: print(sum(x.map(lambda i: int(subprocess.check_output(["sh", "-c", "echo %d >n%d; cat n%d" % (i, i, i)])), range(40))))
p = subprocess.Popen(["sleep", "100"]); p.send_signal(signal.SIGTERM); print(p.wait())
'; rm -f n[0-9]*`, nil},
	{"venv", `python3 -m venv --without-pip v && v/bin/python -c 'import sys; print(sys.prefix == sys.base_prefix)'; python3 -m compileall -q -f src; find src -name '*.pyc' | wc -l; rm -rf v; find . -name __pycache__ -exec rm -r {} +`, nil},
}

// TestToolsSameAsOutside runs real tools outside, and inside beside places that
// are closed to them, in two equal projects: what they print, how they end, and
// what is there in the end is the same.
func TestToolsSameAsOutside(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER can't rename between folders inside (Linux 5.19)")
	}
	kinds := []string{"--block", "--block-write"}
	if slow() { // the first has more go through the broker
		kinds = kinds[:1]
	}
	for _, kind := range kinds {
		for _, j := range jobs {
			t.Run(strings.TrimLeft(kind, "-")+"/"+j.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.sameOutside(j, kind)
			})
		}
	}
}

func (w *world) sameOutside(j job, kind string) {
	w.Helper()
	var got [2]string
	for i, place := range []string{"outside", "work"} {
		dir, tmp := w.at(place+"/project"), w.at(place+"-tmp")
		w.makeProject(dir)
		w.must(os.Mkdir(tmp, 0o700))
		argv := []string{"/bin/sh", "-c", j.script}
		env := append(w.environ(), "GIT_CONFIG_NOSYSTEM=1", "PYTHONDONTWRITEBYTECODE=1")
		for _, who := range []string{"AUTHOR", "COMMITTER"} {
			env = append(env, "GIT_"+who+"_NAME=x", "GIT_"+who+"_EMAIL=x@example.org", "GIT_"+who+"_DATE=1700000000 +0000")
		}
		var cmd *exec.Cmd
		if i == 0 {
			cmd = exec.Command(argv[0], argv[1:]...)
			env = append(env, "TMPDIR="+tmp)
		} else {
			flags := append([]string{kind, dir + "/closed", kind, dir + "/missing/closed", kind, dir + "/**/key.pem", "--env", "GIT_*", "--env", "PYTHON*"}, j.flags...)
			cmd = w.sandbox(flags, argv...)
		}
		cmd.Dir, cmd.Env = dir, env
		r := finish(w, cmd)
		got[i] = fmt.Sprintf("ended with %d\n%s\n%s", r.code, r.stdout, r.stderr)
		got[i] = strings.NewReplacer(dir, "PROJECT").Replace(got[i]) + w.tree(dir)
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		w.Errorf("outside (-) and inside (+) differ: %s", diff)
	}
	if strings.Contains(got[0], "syntax error") || strings.Contains(got[0], "not found") {
		w.Errorf("the script does not work: %s", clip(got[0]))
	}
}

// makeProject makes a small project with a repository.
func (w *world) makeProject(dir string) {
	w.Helper()
	for name, content := range map[string]string{
		"src/a.txt": "alpha\n", "src/b.txt": "bravo\n", "src/deep/c.txt": "charlie\n", "src/m.py": "x = 1\n",
		"Makefile": "all: out/all\nout/all: $(patsubst src/%.txt,out/%.o,$(wildcard src/*.txt))\n\tcat $^ >$@.tmp && mv $@.tmp $@\nout/%.o: src/%.txt\n\t@mkdir -p out\n\ttr a-z A-Z <$< >$@\nclean:\n\trm -rf out\n",
	} {
		w.must(os.MkdirAll(filepath.Dir(dir+"/"+name), 0o755))
		w.must(os.WriteFile(dir+"/"+name, []byte(content), 0o644))
	}
	w.must(os.WriteFile(dir+"/src/run.sh", []byte("#!/bin/sh\necho hello\n"), 0o755))
	w.must(os.Symlink("a.txt", dir+"/src/link"))
	for _, name := range []string{"Makefile", "src/a.txt", "src/b.txt", "src/deep/c.txt", "src/m.py", "src/run.sh", "src/deep", "src"} {
		w.must(syscall.UtimesNano(dir+"/"+name, []syscall.Timespec{{Sec: 1600000000}, {Sec: 1600000000, Nsec: 123456789}}))
	}
	const begin = `git init -q -b main . && git add -A && git -c user.name=x -c user.email=x@example.org commit -q -m one`
	cmd := exec.Command("/bin/sh", "-c", begin)
	cmd.Dir, cmd.Env = dir, append(w.environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	succeed(w, cmd)
}

// tree lists what is in a project: all that is not a matter of the moment.
func (w *world) tree(dir string) string {
	w.Helper()
	var all strings.Builder
	w.must(filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(name, dir)
		switch {
		case rel == "/.git/index", rel == "/.git/gc.log": // hold times, inodes
			return nil
		case strings.HasSuffix(rel, "/.git/index"):
			return nil
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(name, &st); err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s %o %d", rel, st.Mode, st.Nlink)
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFREG:
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, " %q", clip(strings.ReplaceAll(string(b), dir, "PROJECT")))
		case syscall.S_IFLNK:
			to, err := os.Readlink(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&all, " -> %s", strings.ReplaceAll(to, dir, "PROJECT"))
		}
		all.WriteByte('\n')
		return nil
	}))
	return all.String()
}
