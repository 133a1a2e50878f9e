// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"

	"github.com/ambit-sandbox/ambit/internal/seccomp"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// anyUID is a uid that no host has a name for, as container platforms use.
const anyUID = 1000540000

// underVariable holds a filter for this program, executed again: it puts the
// filter on itself and becomes its arguments, as a container runtime does.
const underVariable = "AMBIT_DEPLOY_UNDER"

func becomeUnder(filter string) error {
	// The filter is the thread's, and so is execve's outcome.
	runtime.LockOSThread()
	b, err := hex.DecodeString(filter)
	if err != nil {
		return err
	}
	const setNoNewPrivs = 38 // PR_SET_NO_NEW_PRIVS, linux/prctl.h
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	if _, err := sys.InstallFilter(b, 0); err != nil {
		return err
	}
	if err := os.Unsetenv(underVariable); err != nil {
		return err
	}
	return syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
}

// ociProfile is a seccomp profile as runtimes read it, as far as ours uses it.
type ociProfile struct {
	DefaultAction string       `json:"defaultAction"`
	Architectures []string     `json:"architectures"`
	Syscalls      []ociSyscall `json:"syscalls"`
}

type ociSyscall struct {
	Comment  string   `json:"comment"`
	Names    []string `json:"names"`
	Action   string   `json:"action"`
	ErrnoRet uint32   `json:"errnoRet"`
	Args     []ociArg `json:"args"`
}

type ociArg struct {
	Index    uint32 `json:"index"`
	Value    uint32 `json:"value"`
	ValueTwo uint32 `json:"valueTwo"`
	Op       string `json:"op"`
}

func readProfile(t *testing.T) *ociProfile {
	t.Helper()
	f, err := os.Open("kubernetes/ambit.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	p := &ociProfile{}
	if err := d.Decode(p); err != nil {
		t.Fatal(err)
	}
	if p.DefaultAction != "SCMP_ACT_ALLOW" {
		t.Fatalf("the test can't make filters with %s", p.DefaultAction)
	}
	return p
}

// filter is the profile as the kernel takes it, for this architecture.
func (p *ociProfile) filter(t *testing.T) string {
	t.Helper()
	const call, args = 0, 16 // offsets in struct seccomp_data, seccomp(2)
	var program []bpf.Instruction
	for _, s := range p.Syscalls {
		if s.Action != "SCMP_ACT_ERRNO" || len(s.Args) > 1 {
			t.Fatalf("the test can't make a filter of %+v", s)
		}
		deny := []bpf.Instruction{bpf.RetConstant{Val: 0x00050000 | s.ErrnoRet}} // SECCOMP_RET_ERRNO
		for _, a := range s.Args {
			if a.Op != "SCMP_CMP_MASKED_EQ" {
				t.Fatalf("the test can't compare by %s", a.Op)
			}
			deny = append([]bpf.Instruction{bpf.LoadAbsolute{Off: args + 8*a.Index, Size: 4},
				bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: a.Value}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: a.ValueTwo, SkipTrue: 1}}, deny...)
		}
		for _, name := range s.Names {
			nr, ok := seccomp.Number(runtime.GOARCH, name)
			if !ok {
				if _, ok := seccomp.Number("amd64", name); ok {
					continue // this architecture has no such call
				}
				t.Fatalf("no call is named %s", name)
			}
			program = append(program, bpf.LoadAbsolute{Off: call, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(len(deny))})
			program = append(program, deny...)
		}
	}
	program = append(program, bpf.RetConstant{Val: 0x7fff0000}) // SECCOMP_RET_ALLOW
	raw, err := bpf.Assemble(program)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for _, i := range raw {
		b = native(native16(b, i.Op, i.Jt, i.Jf), i.K)
	}
	return hex.EncodeToString(b)
}

// Both architectures are little-endian.
func native16(b []byte, op uint16, jt, jf uint8) []byte {
	return append(b, byte(op), byte(op>>8), jt, jf)
}
func native(b []byte, k uint32) []byte {
	return append(b, byte(k), byte(k>>8), byte(k>>16), byte(k>>24))
}

// pod is a folder laid out as the image and its volumes are, and what a
// restricted pod runs with.
type pod struct {
	t           *testing.T
	dir, filter string
}

func newPod(t *testing.T, p *ociProfile) *pod {
	t.Helper()
	d := &pod{t: t, dir: publicDir(t), filter: p.filter(t)}
	for _, name := range []string{"projects", "projects/default", "state", "run", "tmp"} {
		// as the recipe makes them: of another user, and open for group 0
		if err := os.Mkdir(filepath.Join(d.dir, name), 0o770); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(d.dir, name), 0o770); err != nil {
			t.Fatal(err)
		}
	}
	config, err := os.ReadFile("container/ambitd.json")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("/run/ambit", d.dir+"/run", "/srv/projects", d.dir+"/projects").Replace(string(config))
	write(t, filepath.Join(d.dir, "ambitd.json"), text)
	return d
}

// command runs in the pod. As root it is an arbitrary user in group 0.
func (d *pod) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(d.t.Context(), filepath.Join(programs, "deploy.test"), args...)
	c.Dir = filepath.Join(d.dir, "projects/default")
	c.Env = []string{underVariable + "=" + d.filter, "PATH=" + os.Getenv("PATH"), "HOME=" + d.dir + "/state", "XDG_STATE_HOME=" + d.dir + "/state/state",
		"XDG_RUNTIME_DIR=" + d.dir + "/run", "TMPDIR=" + d.dir + "/tmp"}
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: anyUID, Gid: 0}}
	}
	return c
}

// ended is how a command in the pod ended. What it writes on one stream has no
// order to what it writes on the other: the service passes them on separately.
type ended struct {
	code           int
	stdout, stderr string
}

func (d *pod) run(args ...string) ended {
	d.t.Helper()
	c := d.command(args...)
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if c.ProcessState == nil {
		d.t.Fatal(err)
	}
	return ended{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// work is what a command does with files, by all the ways that go through the
// broker: it fails at the first that is refused.
const work = `set -e; echo a >a; chmod 640 a; touch -d @1 a; mv a b; mkdir -p d/e; cp -p b d/e/c; ln -s b l; cat l; ! echo x >.mcp.json; rm -r b d l`

// TestSeccompProfile: under the profile for Kubernetes, as an arbitrary user
// without capabilities, commands run as they should, and no namespace is made.
func TestSeccompProfile(t *testing.T) {
	d := newPod(t, readProfile(t))
	if e := d.run(programs+"/ambitd", "check", "--config", d.dir+"/ambitd.json"); e.code != 0 || !strings.HasPrefix(e.stdout, "ok: ") {
		t.Errorf("%+v", e)
	}
	if e := d.run(programs+"/ambit", "run", "--", "sh", "-c", work); e.code != 0 || e.stdout != "a\n" {
		t.Errorf("%+v", e)
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"--user", "--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--time"} {
		if e := d.run(unshare, kind, "true"); e.code == 0 || !strings.Contains(e.stderr, "Operation not permitted") {
			t.Errorf("%s: %+v", kind, e)
		}
	}
}

// TestSeccompProfileNeeded: with pidfd_getfd refused, as the default profiles
// of runtimes do, the service says that it can't work.
func TestSeccompProfileNeeded(t *testing.T) {
	p := readProfile(t)
	p.Syscalls = append(p.Syscalls, ociSyscall{Names: []string{"pidfd_getfd"}, Action: "SCMP_ACT_ERRNO", ErrnoRet: uint32(syscall.EPERM)})
	d := newPod(t, p)
	if e := d.run(programs+"/ambitd", "check", "--config", d.dir+"/ambitd.json"); e.code != 1 || !strings.Contains(e.stderr, "SANDBOX_UNAVAILABLE") {
		t.Errorf("%+v", e)
	}
}

// TestContainerLayout starts the service with the image's configuration, as an
// arbitrary user who can write to the volumes alone, and runs a command by it.
func TestContainerLayout(t *testing.T) {
	d := newPod(t, readProfile(t))
	config := d.dir + "/ambitd.json"
	service := d.command(programs+"/ambitd", "serve", "--config", config)
	var log strings.Builder
	service.Stderr = &log
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- service.Wait() }()
	if e := d.run(programs+"/ambitd", "ready", "--config", config, "--within", fmt.Sprint(patience)); e.code != 0 {
		t.Errorf("%+v", e)
	}
	e := d.run(programs+"/ambit", "run", "--server", d.dir+"/run/service/ambitd.sock", "--project", "default", "--", "sh", "-c", "id -u; "+work)
	uid := os.Getuid()
	if uid == 0 {
		uid = anyUID
	}
	if want := fmt.Sprintf("%d\na\n", uid); e.code != 0 || e.stdout != want {
		t.Errorf("%+v, want %q on stdout", e, want)
	}
	if err := service.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := <-over; err != nil {
		t.Errorf("%v\n%s", err, log.String())
	}
}
