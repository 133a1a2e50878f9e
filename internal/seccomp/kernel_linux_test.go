// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// The tests here install filters, so they do it in a process of their own: the
// test binary again, told by this variable which part to play.
const partVariable = "AMBIT_SECCOMP_TEST"

// parts are what that process does under each name. Each prints what went
// wrong, one line each, and "done N" with the number of probes it made.
var parts = map[string]func(){
	"strict":   func() { confineAndProbe(Config{}, probesStrict()) },
	"open":     func() { confineAndProbe(openConfig, probesOpen()) },
	"notify":   notifyPart,
	"exec":     execPart,
	"ordinary": ordinaryPart,

	"surrender": surrenderPart,
}

// openConfig is that of a new kernel and a policy that allows the network.
var openConfig = Config{Network: NetworkOpen, Metadata: Allow, UnixConnect: Allow, UnixDatagram: Allow, PathTruncate: Allow, SharedIPC: Allow, Reads: Allow, Signals: Allow, Landlock: Allow}

func TestMain(m *testing.M) {
	if part, ok := parts[os.Getenv(partVariable)]; ok {
		part()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runPart plays a part in a process of its own, and returns what it printed.
func runPart(t *testing.T, part string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), partVariable+"="+part, "TMPDIR="+t.TempDir())
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("part %q: %v\n%s", part, err, out)
	}
	return string(out)
}

// checkPart plays a part, and fails on each line that is not its last.
func checkPart(t *testing.T, part string, least int, args ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(runPart(t, part, args...)), "\n")
	var probes int
	if _, err := fmt.Sscanf(lines[len(lines)-1], "done %d", &probes); err != nil || probes < least {
		t.Errorf("part %q ended with %q, want at least %d probes", part, lines[len(lines)-1], least)
	}
	for _, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "note: ") {
			t.Log(line)
			continue
		}
		t.Error(line)
	}
}

// TestStrict makes the calls under the strictest filter.
func TestStrict(t *testing.T) { checkPart(t, "strict", 120) }

// TestOpen makes them under the loosest, where most must be what they were.
func TestOpen(t *testing.T) { checkPart(t, "open", 40) }

// TestNotify answers calls through the listener.
func TestNotify(t *testing.T) { checkPart(t, "notify", 12) }

// TestOrdinary runs programs under the strictest filter.
func TestOrdinary(t *testing.T) { checkPart(t, "ordinary", 3) }

// install puts a filter on every thread of this process.
func install(c Config) {
	program, err := Compile(runtime.GOARCH, c)
	if err != nil {
		panic(err)
	}
	noNewPrivs()
	if _, err := sys.InstallFilter(program.Bytes(), sys.SeccompTsync); err != nil {
		panic(err)
	}
}

// noNewPrivs is what the kernel asks of a process without CAP_SYS_ADMIN before
// it takes a filter (seccomp(2), EACCES).
func noNewPrivs() {
	const prSetNoNewPrivs = 38
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		panic(errno)
	}
}

// probe is a call, and what must become of it under a filter. Before the
// filter is there, it must answer something else: that is the positive control.
type probe struct {
	name string
	do   func() syscall.Errno
	// want is the errno under the filter, or unchanged.
	want syscall.Errno
	// needs is the capability without which the kernel itself answers what
	// the filter does, so that there is no control; 0 where none is needed.
	needs int
}

const unchanged = syscall.Errno(9999)

// confineAndProbe makes each call before and after installing a filter.
func confineAndProbe(c Config, probes []probe) {
	runtime.LockOSThread() // what a call changes of its thread stays on one
	before := make([]syscall.Errno, len(probes))
	for i, p := range probes {
		before[i] = p.do()
	}
	install(c)
	for i, p := range probes {
		switch got := p.do(); {
		case p.want == unchanged:
			if got != before[i] {
				fmt.Printf("%s: %v under the filter, %v without, want no difference\n", p.name, got, before[i])
			}
		case got != p.want:
			fmt.Printf("%s: %v under the filter, want %v (%v without)\n", p.name, got, p.want, before[i])
		case before[i] == p.want && p.needs != 0 && !holds(p.needs):
			fmt.Printf("note: %s: the kernel itself answers %v to this user\n", p.name, got)
		case before[i] == p.want:
			fmt.Printf("%s: no control: %v without the filter too\n", p.name, got)
		}
	}
	fmt.Println("done", len(probes))
}

// Capabilities (linux/capability.h).
const (
	capDacReadSearch = 2
	capNetRaw        = 13
	capSysModule     = 16
	capSysAdmin      = 21
	capSysBoot       = 22
)

// holds says whether this process has a capability.
func holds(capability int) bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(status), "\nCapEff:\t")
	var effective uint64
	if _, err := fmt.Sscanf(rest, "%x", &effective); err != nil {
		panic(err)
	}
	return effective>>capability&1 != 0
}

// raw makes a call by its name. A descriptor that it returns is closed.
func raw(name string, args ...uintptr) func() syscall.Errno {
	nr, ok := Number(runtime.GOARCH, name)
	if !ok {
		panic("no call " + name)
	}
	var a [6]uintptr
	copy(a[:], args)
	return func() syscall.Errno {
		// Not RawSyscall6: the runtime could not stop the thread while a call
		// waits for the listener, which may need to be scheduled first.
		r, _, errno := syscall.Syscall6(uintptr(nr), a[0], a[1], a[2], a[3], a[4], a[5])
		if errno == 0 && r > 2 && returnsDescriptor[name] {
			syscall.Close(int(r))
		}
		return errno
	}
}

var returnsDescriptor = map[string]bool{"socket": true, "open": true, "openat": true}

// address is that of a variable of the package, which stays where it is.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// has says whether this architecture has a call: arm64 lacks the older ones.
func has(name string) bool {
	_, ok := Number(runtime.GOARCH, name)
	return ok
}

// ordinaryPart runs a shell with pipes and a thread-starting program.
func ordinaryPart() {
	install(Config{})
	threads := exec.Command(os.Args[0], "-test.run=^TestNewest$")
	threads.Env = []string{"GOMAXPROCS=4"}
	for _, cmd := range []*exec.Cmd{
		exec.Command("/bin/sh", "-c", `test "$(echo ambit | cat)" = ambit`),
		exec.Command("/bin/sh", "-c", `t=$(mktemp) && echo x >"$t" && test -s "$t" && rm "$t"`),
		threads,
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Printf("%v: %v: %s\n", cmd.Args, err, strings.TrimSpace(string(out)))
		}
	}
	fmt.Println("done 3")
}

// temporary makes a file for a probe to work on, and returns its path as the
// kernel takes it.
func temporary(name string) *byte {
	file := filepath.Join(os.Getenv("TMPDIR"), name)
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		panic(err)
	}
	path, err := syscall.BytePtrFromString(file)
	if err != nil {
		panic(err)
	}
	return path
}
