// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/secctx"
)

// ambit builds the real program once.
var ambit = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ambit-cli-test-")
	if err != nil {
		return "", err
	}
	built = dir
	cmd := exec.Command("go", "build", "-o", dir, "github.com/ambit-sandbox/ambit/cmd/ambit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return dir + "/ambit", os.Chmod(dir, 0o755)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// built is the folder of the program, once a test has asked for it.
var built string

func program(t *testing.T) string {
	t.Helper()
	file, err := ambit()
	if err != nil {
		t.Fatalf("%v: %s", err, file)
	}
	return file
}

// runTime bounds each command of these tests.
const runTime = 2 * time.Minute

// run runs a command in a folder and returns its output and exit code.
func run(t *testing.T, dir string, argv ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(runTime, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	_ = cmd.Wait()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// gathered runs "ambit context" behind a launcher.
func gathered(t *testing.T, dir string, launcher []string, flags ...string) string {
	t.Helper()
	out, errs, code := run(t, dir, append(append(launcher, program(t), "context", "--json"), flags...)...)
	if code != 0 {
		t.Fatalf("%v: ended with %d: %s", launcher, code, errs)
	}
	file := filepath.Join(t.TempDir(), "context.json")
	if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// compared runs "ambit diff" and returns cause and object of each finding.
func compared(t *testing.T, a, b string) (found []string) {
	t.Helper()
	out, errs, code := run(t, ".", program(t), "diff", "--json", a, b)
	var c secctx.Comparison
	if err := json.Unmarshal([]byte(out), &c); err != nil || code > 1 || (code == 1) != (len(c.Findings) > 0) {
		t.Fatalf("ended with %d, %v: %s", code, err, errs)
	}
	for _, f := range c.Findings {
		found = append(found, strings.TrimSpace(string(f.Cause)+" "+f.Object))
	}
	return found
}

// difference is a launcher with a known effect, beside one without it.
type difference struct {
	name    string
	a, b    []string // launchers; nil is none
	paths   []string
	want    []string // what is found, exactly
	between func(t *testing.T, dir string)
}

func sh(script string) []string { return []string{"/bin/sh", "-c", script + ` && exec "$@"`, "sh"} }

// TestDifferences starts processes that differ in one thing, and compares the
// contexts that the real program gathers in them. Beside each stands the same
// launcher twice, between which nothing differs.
func TestDifferences(t *testing.T) {
	for _, d := range []difference{
		{name: "no_new_privs", b: []string{"setpriv", "--no-new-privs"}, want: []string{"no_new_privs"}},
		{name: "limit", b: []string{"prlimit", "--nofile=100:200"}, want: []string{"limit nofile"}},
		{name: "umask", a: sh("umask 022"), b: sh("umask 077"), want: []string{"umask"}},
		{name: "cwd", b: sh("cd /"), want: []string{"cwd"}},
		{name: "environment", a: []string{"env", "AMBIT_A=1"}, want: []string{"environment.missing 1"}},
		{name: "variable", a: []string{"env", "TMPDIR=/a"}, b: []string{"env", "TMPDIR=/b"}, want: []string{"environment.differs TMPDIR"}},
		{name: "descriptor", a: sh("exec 7</dev/null"), want: []string{"descriptor 7"}},
		{name: "other descriptor", a: sh("exec 7</dev/null"), b: sh("exec 7</etc/passwd"), want: []string{"descriptor 7"}},
	} {
		t.Run(d.name, d.test)
	}
}

// TestDifferencesAsRoot is TestDifferences for what takes privileges to make.
func TestDifferencesAsRoot(t *testing.T) {
	needRoot(t)
	for _, d := range []difference{
		{name: "group lost", a: []string{"setpriv", "--groups", "4242,4343"}, b: []string{"setpriv", "--groups", "4343"}, want: []string{"identity.group_lost 4242"}},
		{name: "inheritable", a: []string{"setpriv", "--inh-caps", "+net_raw"}, want: []string{"capability.bounding inheritable"}},
		{name: "bounding", b: []string{"setpriv", "--bounding-set", "-net_raw"}, want: []string{"capability.lost cap_net_raw", "capability.bounding bounding"}},
		{name: "securebits", b: []string{"setpriv", "--securebits", "+no_setuid_fixup"}, want: []string{"securebits"}},
		{name: "user", a: []string{"setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups"}, b: []string{"setpriv", "--reuid", "4712", "--regid", "4711", "--clear-groups"},
			want: []string{"identity.user effective"}},
		{name: "net namespace", b: []string{"unshare", "-n"}, want: []string{"namespace net"}},
		{name: "read-only bind", a: bind("mount --bind folder folder"), b: bind("mount --bind folder folder && mount -o remount,bind,ro folder"),
			paths: []string{"folder/new"}, want: []string{"path.mount %folder", "path.access %folder", "mount.options %folder"}},
		{name: "noexec", a: bind("mount --bind folder folder && chmod 755 folder/file"), b: bind("mount --bind folder folder && mount -o remount,bind,noexec folder"),
			paths: []string{"folder/file"}, want: []string{"path.mount %folder", "path.access %folder/file", "mount.options %folder"}},
		{name: "hidden", a: bind("true"), b: bind("mount -t tmpfs -o ro t folder"), paths: []string{"folder/file"},
			want: []string{"path.end folder/file", "path.object %folder", "path.mount %folder", "path.mode %folder", "mount.added %folder"}},
		{name: "another mount", a: bind("true"), b: bind("mount --bind folder folder"), paths: []string{"folder/file"},
			want: []string{"path.mount %folder", "mount.added %folder"}},
		{name: "folder closed", a: nobody, b: nobody, paths: []string{"folder/file"}, between: func(t *testing.T, dir string) { must(t, os.Chmod(dir+"/folder", 0o700)) },
			want: []string{"path.end folder/file", "path.mode %folder", "path.access %folder"}},
		{name: "acl", paths: []string{"folder/file"}, between: func(t *testing.T, dir string) { setACL(t, dir+"/folder/file") }, want: []string{"path.acl %folder/file"}},
		{name: "default acl", paths: []string{"folder"}, between: func(t *testing.T, dir string) {
			must(t, syscall.Setxattr(dir+"/folder", "system.posix_acl_default", acl(), 0))
		}, want: []string{"path.acl %folder"}},
		{name: "owner", paths: []string{"folder/file"}, between: func(t *testing.T, dir string) { must(t, os.Chown(dir+"/folder/file", 7, 8)) }, want: []string{"path.owner %folder/file"}},
		{name: "link leads elsewhere", paths: []string{"link"}, between: func(t *testing.T, dir string) {
			must(t, os.Remove(dir+"/link"))
			must(t, os.Symlink("nowhere", dir+"/link"))
		}, want: []string{"path.end link", "path.object %link"}},
	} {
		t.Run(d.name, d.test)
	}
}

var nobody = []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}

// bind runs a script in a mount namespace of its own.
func bind(script string) []string {
	return append([]string{"unshare", "-m"}, sh(script)...)
}

func (d difference) test(t *testing.T) {
	dir := t.TempDir()
	for p := dir; p != "/tmp" && p != "/"; p = filepath.Dir(p) {
		_ = os.Chmod(p, 0o755) // for other users
	}
	must(t, os.Mkdir(dir+"/folder", 0o755))
	must(t, os.WriteFile(dir+"/folder/file", nil, 0o644))
	must(t, os.Symlink("folder/file", dir+"/link"))
	var flags []string
	for _, p := range d.paths {
		flags = append(flags, "--path", p)
	}
	a, again := gathered(t, dir, d.a, flags...), gathered(t, dir, d.a, flags...)
	// A new namespace is another one each time; before Linux 6.18 that does
	// not always show, as its number may be used again.
	sameMount := func(f string) bool { return f == "namespace mnt" }
	if control := slices.DeleteFunc(compared(t, a, again), sameMount); len(control) > 0 {
		t.Errorf("between two of the same: %q", control)
	}
	if d.between != nil {
		d.between(t, dir)
	}
	want := slices.Clone(d.want)
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "%", dir+"/")
	}
	if got := slices.DeleteFunc(compared(t, a, gathered(t, dir, d.b, flags...)), sameMount); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// needRoot skips what an ordinary user can't set up, where the kernel says so.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := exec.Command("setpriv", "--clear-groups", "true").Run(); err != nil {
			t.Skipf("this takes root to set up: setpriv: %v", err)
		}
	}
}

// acl is one that gives user 65534 rw, with an empty mask.
func acl() []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][2]uint16{{1, 6}, {2, 6}, {4, 4}, {16, 0}, {32, 4}} {
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, e[0]), e[1])
		id := ^uint32(0)
		if e[0] == 2 {
			id = 65534
		}
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return b
}

// setACL sets it without a change of the mode bits that ls shows: the group's
// are the mask then, so the file has none for its group before.
func setACL(t *testing.T, name string) {
	t.Helper()
	b := acl()
	b[4+3*8+2] = 4 // the mask is r--, as the group's bits were
	must(t, syscall.Setxattr(name, "system.posix_acl_access", b, 0))
}
