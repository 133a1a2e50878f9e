// SPDX-License-Identifier: Apache-2.0

// Package deploy_test tests what installs Ambit. The parts that need systemd
// run in the kernel lab (lab/suites/deploy).
package deploy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// nobody is whom the tests install for when they run as root.
const nobody = 65534

// patience bounds every installation; none is expected to take it.
const patience = 3 * time.Minute

// programs is the folder with the built ambit and ambitd.
var programs string

func TestMain(m *testing.M) {
	if filter := os.Getenv(underVariable); filter != "" {
		fmt.Fprintln(os.Stderr, "cannot become the command:", becomeUnder(filter))
		os.Exit(125)
	}
	os.Exit(withPrograms(m))
}

func withPrograms(m *testing.M) int {
	dir, err := os.MkdirTemp("", "ambit-deploy")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs = dir
	build := exec.Command("go", "build", "-trimpath", "-o", dir+"/", "../cmd/ambit", "../cmd/ambitd")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build: %v\n%s", err, out)
		return 1
	}
	// where any user can execute it
	self, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "deploy.test"), self, 0o755), os.Chmod(dir, 0o755))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// user is an ordinary user with an empty home.
type user struct {
	t          *testing.T
	home, path string
	uid        int
}

func newUser(t *testing.T) *user {
	t.Helper()
	home, err := os.MkdirTemp("", "ambit-home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	u := &user{t: t, home: home, path: os.Getenv("PATH"), uid: os.Getuid()}
	if u.uid == 0 {
		u.uid = nobody
		if err := os.Chown(home, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// command is what the user calls.
func (u *user) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Env = []string{"HOME=" + u.home, "PATH=" + u.path, "LANG=C.UTF-8"}
	c.Dir = u.home
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return c
}

// install calls install.sh and returns its exit code and what it said.
func (u *user) install(args ...string) (int, string) {
	u.t.Helper()
	script, err := filepath.Abs("install.sh")
	if err != nil {
		u.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	c := u.command(ctx, script, append([]string{"--no-service"}, args...)...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		u.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// must is an installation that succeeds.
func (u *user) must(args ...string) string {
	u.t.Helper()
	code, out := u.install(args...)
	if code != 0 {
		u.t.Fatalf("install.sh %q: exit code %d\n%s", args, code, out)
	}
	return out
}

func (u *user) share(name string) string { return filepath.Join(u.home, ".local/share/ambit", name) }

// current is the release in use, which works; empty if there is none.
func (u *user) current() string {
	u.t.Helper()
	target, err := os.Readlink(u.share("current"))
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		u.t.Fatal(err)
	}
	config := filepath.Join(u.home, ".config/ambit/ambitd.json")
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	defer cancel()
	out, err := u.command(ctx, filepath.Join(u.share("current"), "ambitd"), "check", "--config", config).CombinedOutput()
	if err != nil || !bytes.HasPrefix(out, []byte("ok: ")) {
		u.t.Errorf("the release in use does not work: %v %s", err, out)
	}
	return strings.TrimPrefix(target, "releases/")
}

func (u *user) releases() []string {
	u.t.Helper()
	entries, err := os.ReadDir(u.share("releases"))
	if err != nil && !os.IsNotExist(err) {
		u.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// release is a folder with the programs, as a release of its own: what is
// behind the end of an ELF file changes its digest and nothing else.
func release(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(publicDir(t), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"ambit", "ambitd"} {
		b, err := os.ReadFile(filepath.Join(programs, p))
		if err != nil {
			t.Fatal(err)
		}
		if p == "ambitd" {
			b = append(b, name...)
		}
		write(t, filepath.Join(dir, p), string(b))
	}
	return dir
}

// broken is a release whose preflight fails.
func broken(t *testing.T) string {
	t.Helper()
	dir := publicDir(t)
	for _, p := range []string{"ambit", "ambitd"} {
		write(t, filepath.Join(dir, p), "#!/bin/sh\n[ \"$1\" = version ] && { echo ambitd broken; exit 0; }\necho 'SANDBOX_UNAVAILABLE: for a test' >&2\nexit 1\n")
	}
	return dir
}

// publicDir is a folder that any user can read, unlike t.TempDir.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ambit-release")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestInstall(t *testing.T) {
	u := newUser(t)
	u.must("--from", programs)
	first := u.current()
	if first == "" {
		t.Fatal("nothing is in use")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, p := range []string{"ambit", "ambitd"} {
		if out, err := u.command(ctx, filepath.Join(u.home, ".local/bin", p), "version").CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte(p+" ")) {
			t.Errorf("%s: %v %s", p, err, out)
		}
	}
	config := filepath.Join(u.home, ".config/ambit/ambitd.json")
	if st, err := os.Stat(config); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("configuration: %v %v", st, err)
	}
	// once more: nothing changes, also not a configuration that was edited
	b, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	edited := append([]byte("// mine\n"), b...)
	if err := os.WriteFile(config, edited, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Lstat(u.share("current"))
	if err != nil {
		t.Fatal(err)
	}
	if out := u.must("--from", programs); !strings.Contains(out, "in use already") {
		t.Errorf("said %s", out)
	}
	after, err := os.Lstat(u.share("current"))
	if err != nil || !os.SameFile(before, after) || u.current() != first {
		t.Errorf("the link was made anew: %v", err)
	}
	if b, err := os.ReadFile(config); err != nil || !bytes.Equal(b, edited) {
		t.Errorf("the configuration was changed: %v\n%s", err, b)
	}
}

func TestUpgradeAndRollback(t *testing.T) {
	u := newUser(t)
	if code, out := u.install("--rollback"); code != 1 || !strings.Contains(out, "nothing is installed") {
		t.Errorf("%d %s", code, out)
	}
	u.must("--from", release(t, "1"))
	one := u.current()
	if code, out := u.install("--rollback"); code != 1 || !strings.Contains(out, "no release before") || u.current() != one {
		t.Errorf("%d %s", code, out)
	}
	u.must("--from", release(t, "2"))
	two := u.current()
	if two == one {
		t.Fatal("the release is the same")
	}
	u.must("--rollback")
	if got := u.current(); got != one {
		t.Errorf("rolled back to %s, want %s", got, one)
	}
	u.must("--rollback")
	if got := u.current(); got != two {
		t.Errorf("rolled back to %s, want %s", got, two)
	}
}

func TestPreflightFails(t *testing.T) {
	u := newUser(t)
	bad := broken(t)
	code, out := u.install("--from", bad)
	if code != 1 || !strings.Contains(out, "SANDBOX_UNAVAILABLE: for a test") || !strings.Contains(out, "nothing was installed") {
		t.Errorf("%d %s", code, out)
	}
	if _, err := os.Lstat(u.share("current")); !os.IsNotExist(err) {
		t.Errorf("a release that can't work is in use: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(u.home, ".local/bin/ambit")); !os.IsNotExist(err) {
		t.Errorf("a link to it: %v", err)
	}
	u.must("--from", release(t, "1"))
	one := u.current()
	code, out = u.install("--from", bad)
	if code != 1 || !strings.Contains(out, "release "+one+" stays in use") {
		t.Errorf("%d %s", code, out)
	}
	if got := u.current(); got != one {
		t.Errorf("in use is %q, want %q", got, one)
	}
}

func TestKeepsThree(t *testing.T) {
	u := newUser(t)
	var all []string
	for i := range 5 {
		u.must("--from", release(t, fmt.Sprint(i)))
		all = append(all, u.current())
	}
	kept := u.releases()
	if len(kept) != 3 {
		t.Errorf("kept %q", kept)
	}
	for _, name := range all[2:] {
		if _, err := os.Stat(u.share("releases/" + name)); err != nil {
			t.Error(err)
		}
	}
}

func TestTwoAtOnce(t *testing.T) {
	u := newUser(t)
	dirs := []string{release(t, "a"), release(t, "b"), release(t, "c"), release(t, "a")}
	var wg sync.WaitGroup
	for _, dir := range dirs {
		wg.Go(func() {
			if code, out := u.install("--from", dir); code != 0 {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
	wg.Wait()
	if u.current() == "" || len(u.releases()) != 3 {
		t.Errorf("in use is %q of %q", u.current(), u.releases())
	}
	u.nothingLeft()
}

// nothingLeft: no traces of what was under way.
func (u *user) nothingLeft() {
	u.t.Helper()
	for _, pattern := range []string{"pending", "*.new", "releases/.*"} {
		if found, err := filepath.Glob(u.share(pattern)); err != nil || len(found) > 0 {
			u.t.Errorf("left: %q %v", found, err)
		}
	}
}

func TestForeignFileStays(t *testing.T) {
	u := newUser(t)
	name := filepath.Join(u.home, "p/bin/ambitd")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if out, err := u.command(ctx, "sh", "-c", "mkdir -p p/bin && echo mine >p/bin/ambitd").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	code, out := u.install("--from", programs, "--prefix", u.home+"/p")
	if b, err := os.ReadFile(name); code != 1 || !strings.Contains(out, "something else is there") || err != nil || string(b) != "mine\n" {
		t.Errorf("%d %s\n%s %v", code, out, b, err)
	}
	u.must("--from", programs, "--prefix", u.home+"/q")
	if _, err := os.Stat(filepath.Join(u.home, "q/share/ambit/current/ambitd")); err != nil {
		t.Error(err)
	}
}

func TestUninstall(t *testing.T) {
	u := newUser(t)
	u.must("--from", programs)
	u.must("--uninstall")
	for _, gone := range []string{".local/share/ambit/current", ".local/share/ambit/releases", ".local/bin/ambit", ".local/bin/ambitd"} {
		if _, err := os.Lstat(filepath.Join(u.home, gone)); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", gone, err)
		}
	}
	for _, kept := range []string{".local/share/ambit/projects", ".config/ambit/ambitd.json", ".config/ambit/secrets"} {
		if _, err := os.Lstat(filepath.Join(u.home, kept)); err != nil {
			t.Error(err)
		}
	}
	u.must("--from", programs)
	if u.current() == "" {
		t.Error("it can't be installed again")
	}
}

func TestRefused(t *testing.T) {
	u := newUser(t)
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{[]string{"--prefix"}, 1, "--prefix needs a value"},
		{[]string{"--prefix", "relative"}, 1, "write it from / on"},
		{[]string{"--prefix", "/tmp/a b"}, 1, "only letters"},
		{[]string{"--prefix", "/tmp/a%h"}, 1, "only letters"},
		{[]string{"--projects", "/tmp/\"x"}, 1, "only letters"},
		{[]string{"--from", "/nonexistent"}, 1, "name the folder that has both"},
		{[]string{"--everything"}, 2, "unknown option"},
		{[]string{"--help"}, 0, "Usage:"},
	} {
		if code, out := u.install(c.args...); code != c.code || !strings.Contains(out, c.text) {
			t.Errorf("%q: %d %s", c.args, code, out)
		}
	}
	if got := u.releases(); len(got) > 0 {
		t.Errorf("left %q", got)
	}
	if os.Getuid() == 0 {
		out, err := exec.Command("./install.sh", "--no-service", "--from", programs).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "cannot install for root") {
			t.Errorf("%v %s", err, out)
		}
	}
}
