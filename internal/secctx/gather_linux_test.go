// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// roles are what this program does when a test starts it again.
var roles = map[string]func(){
	"wait":   func() { _, _ = io.Copy(io.Discard, os.Stdin) },
	"flip":   flip,
	"gather": tellContext,
	"stack":  stack,
}

func TestMain(m *testing.M) {
	if handled, exit := probe.Dispatch(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if len(os.Args) > 1 {
		if role, ok := roles[os.Args[1]]; ok {
			os.Stdout.WriteString("ready\n")
			role()
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// flip changes the process's umask for as long as its parent lives.
func flip() {
	go func() {
		for n := 0; ; n++ {
			syscall.Umask(n & 0o77)
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func tellContext() {
	c, err := Gather(0, os.Args[2:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(c)
	}
	if err != nil {
		panic(err)
	}
}

// stack puts as many Landlock layers on itself as its argument says, and then
// describes itself.
func stack() {
	runtime.LockOSThread() // a layer holds for one thread
	layers, err := strconv.Atoi(os.Args[2])
	for range layers {
		var fd int
		if err == nil {
			err = sys.SetNoNewPrivs()
		}
		if err == nil {
			fd, err = sys.LandlockCreateRuleset(sys.Ruleset{FS: uint64(probe.FSMakeSock)})
		}
		if err == nil {
			err = sys.LandlockRestrictSelf(fd, 0)
		}
	}
	if err != nil {
		panic(err)
	}
	os.Args = os.Args[:2]
	tellContext()
}

// TestLandlockLayers: layers are counted exactly.
func TestLandlockLayers(t *testing.T) {
	if abi, err := sys.LandlockABI(); err != nil {
		t.Skipf("this kernel has no Landlock: %d, %v", abi, err)
	}
	own, err := Gather(0, nil)
	if err != nil || own.Confinement.LandlockLayers == nil {
		t.Fatal(err, own.Unknown)
	}
	for n := range 3 {
		_, out := again(t, "stack", nil, strconv.Itoa(n))
		var c Context
		if err := json.NewDecoder(out).Decode(&c); err != nil {
			t.Fatal(err)
		}
		if got := c.Confinement.LandlockLayers; got == nil || *got != *own.Confinement.LandlockLayers+n {
			t.Errorf("with %d more: %v, %+v", n, got, c.Unknown["confinement.landlock_layers"])
		}
	}
}

// again starts this program in a role, and returns when it is in it.
func again(t *testing.T, role string, attr *syscall.SysProcAttr, args ...string) (cmd *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if attr != nil && attr.Chroot != "" {
		file = "/program"
	}
	cmd = exec.Command(file, append([]string{role}, args...)...)
	cmd.SysProcAttr, cmd.Stderr = attr, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		kill.Stop()
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	out = bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("heard %q, %v", line, err)
	}
	return cmd, out
}

// TestGatherChanging: a process that becomes another one while it is looked
// at is told as such, and one that does not is not.
func TestGatherChanging(t *testing.T) {
	still, _ := again(t, "wait", nil)
	if c, err := Gather(still.Process.Pid, nil); err != nil || c.Taken.Changed {
		t.Errorf("a process at rest: %+v, %v", c, err)
	}
	cmd, _ := again(t, "flip", nil)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		c, err := Gather(cmd.Process.Pid, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Taken.Changed {
			if len(c.Taken.Notes) == 0 {
				t.Error("it is not said in words")
			}
			return
		}
	}
	t.Error("the change was never seen")
}

// TestGatherVanishing: a process that ends while it is looked at is an error,
// also if its number should be given to another one.
func TestGatherVanishing(t *testing.T) {
	cmd, _ := again(t, "wait", nil)
	p, err := openProcess(cmd.Process.Pid, ofPID)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if _, err := p.context(nil); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if c, err := p.context(nil); !errors.Is(err, syscall.ESRCH) && !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %+v, %v", c, err)
	}
}

// TestGatherLeaksNothing: no descriptor stays open, whatever the paths.
func TestGatherLeaksNothing(t *testing.T) {
	paths := []string{"/etc/passwd", "/none", "/proc/self/exe", "/proc/self/fd/0", "..", "/proc/self/root/etc", "x/../y", "/dev/null"}
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	cmd, _ := again(t, "wait", nil)
	gather := func() {
		for _, pid := range []int{0, cmd.Process.Pid} {
			if _, err := Gather(pid, paths); err != nil {
				t.Fatal(err)
			}
		}
	}
	gather()
	before := count()
	gather()
	if after := count(); after != before {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

// chainOf shows the steps of a path: name, and what links say.
func chainOf(p Path) (out []string) {
	for _, c := range p.Components {
		s := c.Name
		if c.Link != "" {
			s += " -> " + c.Link
		}
		out = append(out, s)
	}
	return append(out, p.End)
}

// TestPathSteps follows links, "..", loops and what is missing, step by step.
func TestPathSteps(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, target := range map[string]string{"rel": "a/b", "abs": dir + "/a", "loop": "loop", "up": "a/../c", "gone": "none/x", "chain": "rel/f"} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a/b", "c"} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("a/b/f", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		".":                               {"", "found"},
		"a//./b/f":                        {"", "/a", "/a/b", "/a/b/f", "found"},
		"chain":                           {"", "/chain -> rel/f", "/rel -> a/b", "/a", "/a/b", "/a/b/f", "found"},
		"up":                              {"", "/up -> a/../c", "/a", "", "/c", "found"},
		"gone":                            {"", "/gone -> none/x", "missing"},
		"a/b/f/x":                         {"", "/a", "/a/b", "/a/b/f", "missing"},
		"../" + filepath.Base(dir) + "/c": {"", "..", "", "/c", "found"},
	} {
		for i := range want {
			if want[i] == "" || want[i][0] == '/' {
				want[i] = dir + want[i]
			} else if want[i] == ".." {
				want[i] = filepath.Dir(dir)
			}
		}
		c, err := Gather(0, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		if got := chainOf(c.Paths[0]); !cmp.Equal(got, want) {
			t.Errorf("%s: %s", path, cmp.Diff(want, got))
		}
	}
	c, err := Gather(0, []string{"loop", "gone", "abs/b/f", strings.Repeat("x", 5000), "/proc/self/cwd/a", "/../../etc"})
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Paths[0]; p.End != "loop" || p.Errno != "ELOOP" {
		t.Errorf("a loop ends in %+v", p)
	}
	if p := c.Paths[1]; p.Errno != "ENOENT" || p.Object != dir+"/none/x" {
		t.Errorf("what is missing is %s, %s", p.Object, p.Errno)
	}
	if p := c.Paths[2]; p.End != "found" || p.Object != dir+"/a/b/f" {
		t.Errorf("an absolute link leads to %s", p.Object)
	}
	if p := c.Paths[3]; p.End != "too long" {
		t.Errorf("a long name ends in %s", p.End)
	}
	if p := c.Paths[4]; p.Object != dir+"/a" || !slices.ContainsFunc(p.Components, func(c Component) bool { return c.Jump && c.Name == "/proc/"+c0(p) }) {
		t.Errorf("a magic link leads to %+v", chainOf(p))
	}
	if p := c.Paths[5]; p.Object != "/etc" {
		t.Errorf("above the root is %s", p.Object)
	}
}

// c0 is the name below /proc where a path through /proc/self jumps.
func c0(p Path) string {
	for _, c := range p.Components {
		if c.Name == "/proc/self" {
			return c.Link + "/cwd"
		}
	}
	return "?"
}

// TestPathInAnotherRoot: names of a process lead where they lead in its own
// root: absolute links and ".." stay in it, and names are those of its files.
func TestPathInAnotherRoot(t *testing.T) {
	if err := exec.Command("unshare", "--root=/", "true").Run(); err != nil && os.Geteuid() != 0 {
		t.Skip("chroot is refused here:", err)
	}
	root := t.TempDir()
	me, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"/etc/passwd": "inner:x:0:0:::\n", "/etc/group": "innergroup:x:0:\n", "/program": string(me), "/etc/only-here": ""} {
		_ = os.MkdirAll(filepath.Dir(root+name), 0o755)
		if err := os.WriteFile(root+name, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/only-here", root+"/abs"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../etc/only-here", root+"/up"); err != nil {
		t.Fatal(err)
	}
	cmd, _ := again(t, "wait", &syscall.SysProcAttr{Chroot: root})
	c, err := Gather(cmd.Process.Pid, []string{"/abs", "/up", "/etc/hostname", "/proc"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Program.Root != root || c.Identity.User.Effective.Name != "inner" {
		t.Errorf("root %s, user %v", c.Program.Root, c.Identity.User)
	}
	if c.Identity.Group.Effective.Name != "innergroup" {
		t.Errorf("group %v", c.Identity.Group)
	}
	for _, p := range c.Paths[:2] {
		if p.End != "found" || p.Object != "/etc/only-here" {
			t.Errorf("%s leads to %s: %s", p.Asked, p.Object, p.End)
		}
	}
	for _, p := range c.Paths[2:] {
		if p.End != "missing" {
			t.Errorf("%s leads to %s: %s, which is outside", p.Asked, p.Object, p.End)
		}
	}
}

// TestGatherInUserNamespace: ids, maps and owners as they are seen from within
// and from without.
func TestGatherInUserNamespace(t *testing.T) {
	attr := &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if err := (&exec.Cmd{Path: "/bin/true", SysProcAttr: attr}).Run(); err != nil {
		t.Skip("this host has no user namespaces for this user:", err)
	}
	_, out := again(t, "gather", attr, "/")
	var in Context
	if err := json.NewDecoder(out).Decode(&in); err != nil {
		t.Fatal(err)
	}
	own, err := Gather(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if in.Namespaces["user"].Inode == own.Namespaces["user"].Inode || in.Namespaces["net"].Inode != own.Namespaces["net"].Inode {
		t.Errorf("user and net namespace: %+v", in.Namespaces)
	}
	if r := in.Unknown["namespaces.net.owner"]; in.Namespaces["net"].Owner != nil || r.Errno != "EPERM" {
		t.Errorf("the owner of the outer net namespace: %+v, %+v", in.Namespaces["net"], r)
	}
	if own.Namespaces["net"].Owner == nil || *own.Namespaces["net"].Owner != own.Namespaces["user"].Inode {
		t.Logf("the test itself is in a user namespace of others: %+v", own.Namespaces)
	}
	if maps := in.UserNamespace.UIDMap.Items; len(maps) != 1 || maps[0].Inside != 0 || maps[0].Count != 1 || in.UserNamespace.Setgroups != "deny" {
		t.Errorf("maps: %+v", in.UserNamespace)
	}
	if root := in.Paths[0].Components[0].Object; os.Geteuid() != 0 && !root.Owner.Unmapped {
		t.Errorf("the root belongs to %+v", root.Owner)
	}
	found := Diff(own, &in).Findings
	for _, want := range []Cause{CauseUserNamespace, CauseIDMap, CauseSetgroups} {
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Cause == want }) {
			t.Errorf("%s is not found", want)
		}
	}

	cmd, _ := again(t, "wait", attr)
	outside, err := Gather(cmd.Process.Pid, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := outside.Namespaces["user"]; n.Owner == nil || *n.Owner != own.Namespaces["user"].Inode || n.OwnerUID == nil || int(*n.OwnerUID) != os.Geteuid() {
		t.Errorf("from without: %+v", n)
	}
}

// TestObjects: attributes and ACLs of what a path leads to.
func TestObjects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	last := func() Component {
		c, err := Gather(0, []string{file})
		if err != nil {
			t.Fatal(err)
		}
		list := c.Paths[0].Components
		return list[len(list)-1]
	}
	c := last()
	if c.Object.Mode != "0640" || c.ACL != nil || c.Attributes == nil || len(c.Attributes) > 0 || c.Kind != "file" || c.Mount == nil || *c.MayExecute || !*c.MayRead {
		t.Errorf("got %+v", c)
	}
	if err := syscall.Setxattr(file, "system.posix_acl_access", aclOf([3]uint32{1, 6, 1<<32 - 1}, [3]uint32{2, 6, 65534}, [3]uint32{4, 4, 1<<32 - 1}, [3]uint32{16, 0, 1<<32 - 1}, [3]uint32{32, 0, 1<<32 - 1}), 0); err != nil {
		if !errors.Is(err, syscall.EOPNOTSUPP) {
			t.Fatal(err)
		}
		t.Skip("this file system has no ACLs:", err)
	}
	c = last()
	if len(c.ACL) != 5 || c.ACL[1].ID.ID != 65534 || c.ACL[1].Perm != "rw-" || c.ACL[3] != (ACLEntry{Tag: "mask", Perm: "---"}) {
		t.Errorf("got %+v", c.ACL)
	}
	if err := exec.Command("chattr", "+i", file).Run(); err != nil {
		t.Skip("attributes can't be set here:", err)
	}
	defer func() { _ = exec.Command("chattr", "-i", file).Run() }()
	if c = last(); !slices.Equal(c.Attributes, []string{"immutable"}) {
		t.Errorf("got %+v", c.Attributes)
	}
}
