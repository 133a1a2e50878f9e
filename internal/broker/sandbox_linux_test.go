// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// The tests run the broker in the test process, and the calls in a child of
// it: the test binary itself, in one of these roles. A child starts as
// roleFiltered, which installs the filter and becomes the next role by exec,
// so that the filter is on all its threads; or natively as that role.
const (
	roleVariable = "AMBIT_BROKER_TEST_ROLE"
	nestVariable = "AMBIT_BROKER_TEST_NEST" // not empty: in a Landlock domain of its own
	roleFiltered = "filtered"
	roleBare     = "bare" // like roleFiltered, without the filter
)

// roles are what a child does; each file of tests adds its own.
var roles = map[string]func([]string) error{
	"calls":     playCalls,
	"attack":    playAttack,
	"two":       playTwo,
	"flood":     playFlood,
	"loop":      playLoop,
	"family":    playFamily,
	"threads":   playThreads,
	"wait":      playWait,
	nestedRole:  playNested,
	"storm":     playStorm,
	"ends":      playOneEnd,
	"crowd":     playOneCrowd,
	"exec":      playOneExec,
	"fileloop":  playFileLoop,
	"flicker":   playFlicker,
	"self":      playSelf,
	"listen":    playListen,
	"adopt":     playAdopt,
	"too large": playTooLarge,
	"runners":   playRunners,
	"runs":      playRuns,
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(role, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func play(role string, args []string) error {
	switch role {
	case roleFiltered:
		return playFiltered(args)
	case roleBare:
		return playBare(args)
	}
	return roles[role](args)
}

// playBare gives up capabilities and becomes the next role.
func playBare(args []string) error {
	if err := giveUp(); err != nil {
		return err
	}
	return become(args)
}

func giveUp() error {
	runtime.LockOSThread()
	if err := sys.DropThreadCapabilities(); err != nil {
		return err
	}
	if err := sys.SetNoNewPrivs(); err != nil || os.Getenv(nestVariable) == "" {
		return err
	}
	ruleset, err := sys.LandlockCreateRuleset(sys.Ruleset{Scoped: sys.ScopeAbstractUnix})
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(ruleset) }()
	return sys.LandlockRestrictSelf(ruleset, 0)
}

func become(args []string) error {
	if err := os.Setenv(roleVariable, args[0]); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", append([]string{os.Args[0]}, args[1:]...), os.Environ())
}

// playFiltered gives up capabilities, installs the filter, says the
// listener's number on stdout and waits on stdin until it has been taken.
func playFiltered(args []string) error {
	if err := giveUp(); err != nil {
		return err
	}
	fd, err := sys.InstallFilter(notifyFilter(), sys.SeccompNewListener|sys.SeccompWaitKillableRecv)
	if err != nil {
		return err
	}
	fmt.Printf("%d\n", fd)
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return err
	}
	_ = syscall.Close(fd)
	return become(args)
}

// notifyFilter hands over every call of the table.
func notifyFilter() []byte {
	type insn struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	table := callTable()
	table[sysFchmodat2] = call{} // a filter does not know what the kernel has
	if os.Getenv(signalsVariable) != "" {
		maps.Copy(table, signalCalls())
	}
	nrs := slices.Sorted(maps.Keys(table))
	prog := []insn{{syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, 0, 0, 0}}
	for i, nr := range nrs {
		prog = append(prog, insn{syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, uint8(len(nrs) - i), 0, uint32(nr)})
	}
	prog = append(prog,
		insn{syscall.BPF_RET | syscall.BPF_K, 0, 0, sys.SeccompRetAllow},
		insn{syscall.BPF_RET | syscall.BPF_K, 0, 0, sys.SeccompRetUserNotif})
	return unsafe.Slice((*byte)(unsafe.Pointer(&prog[0])), len(prog)*8)
}

// How long tests wait for what comes at once, on a machine with nothing else to
// do: that of the tests may be loaded many times over. And what a child lives at
// most, should nobody end it.
const (
	patient = time.Minute
	endless = 8 * time.Minute
)

// subject is a running child.
type subject struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start runs the test binary in a role, with files as descriptors 3, 4, ...
func start(tb testing.TB, role string, files []*os.File, args ...string) *subject {
	tb.Helper()
	return startBy(tb, func(f func()) { f() }, role, files, args...)
}

// startBy starts the child in the way that do runs functions.
func startBy(tb testing.TB, do func(func()), role string, files []*os.File, args ...string) *subject {
	tb.Helper()
	s := &subject{cmd: exec.Command("/proc/self/exe", args...)}
	s.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	s.cmd.Stderr = os.Stderr
	s.cmd.ExtraFiles = files
	in, err := s.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	do(func() { err = s.cmd.Start() })
	if err != nil {
		tb.Fatal(err)
	}
	dead := time.AfterFunc(endless, func() { _ = s.cmd.Process.Kill() })
	tb.Cleanup(func() {
		dead.Stop()
		_ = s.in.Close()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s
}

// startFiltered runs a role under the filter and returns its listener too.
func startFiltered(tb testing.TB, role string, files []*os.File, args ...string) (*subject, int) {
	tb.Helper()
	return filtered(tb, start(tb, roleFiltered, files, append([]string{role}, args...)...))
}

// filtered takes the listener from a child that has just been started.
func filtered(tb testing.TB, s *subject) (*subject, int) {
	tb.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		tb.Fatalf("the child has no filter: %v", err)
	}
	fd, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		tb.Fatal(err)
	}
	pidfd, errno := sys.OpenThread(s.cmd.Process.Pid)
	if errno != 0 {
		tb.Fatal(errno)
	}
	defer func() { _ = syscall.Close(pidfd) }()
	listener, errno := sys.TakeFD(pidfd, fd)
	if errno != 0 {
		tb.Fatal(errno)
	}
	if _, err := s.in.Write([]byte{'\n'}); err != nil {
		tb.Fatal(err)
	}
	return s, listener
}

// startBrokered runs a role under the filter, with a broker that serves it.
func startBrokered(tb testing.TB, o Options, role string, files []*os.File, args ...string) (*subject, *Broker) {
	tb.Helper()
	s, listener := startFiltered(tb, role, files, args...)
	return s, serve(tb, s, listener, o)
}

// serve runs a broker for a child, and checks in the end that it ends.
func serve(tb testing.TB, s *subject, listener int, o Options) *Broker {
	tb.Helper()
	return serveAs(tb, s, listener, o, func(*Broker) {})
}

// serveAs changes the broker before it serves.
func serveAs(tb testing.TB, s *subject, listener int, o Options, set func(*Broker)) *Broker {
	tb.Helper()
	b, err := New(listener, o)
	if err != nil {
		tb.Fatal(err)
	}
	set(b)
	done := make(chan error, 1)
	go func() { done <- b.Serve() }()
	tb.Cleanup(func() {
		// The child's own clean-up comes after this one.
		_ = s.in.Close()
		_ = s.cmd.Process.Kill()
		_ = b.Close()
		select {
		case err := <-done:
			if err != nil {
				tb.Errorf("Serve: %v", err)
			}
		case <-time.After(patient):
			tb.Error("Serve does not end")
		}
	})
	return b
}

// outcome is what the child got.
type outcome struct {
	Value int64
	Errno syscall.Errno
}

func (o outcome) String() string {
	if o.Errno != 0 {
		return sys.ErrnoName(o.Errno)
	}
	return strconv.FormatInt(o.Value, 10)
}

// Arguments of a syscallSpec: an integer, or memory.
type (
	memory []byte // a pointer to these bytes
	result int    // what the call so many before this one returned
)

// str is a pointer to a string.
func str(s string) memory { return append([]byte(s), 0) }

type wireArg struct {
	N    int64
	M    []byte
	Mem  bool
	Back int
}

// call has the child make a call.
func (s *subject) call(tb testing.TB, nr int, args ...any) outcome {
	tb.Helper()
	var wire []wireArg
	for _, a := range args {
		switch v := a.(type) {
		case int:
			wire = append(wire, wireArg{N: int64(v)})
		case memory:
			wire = append(wire, wireArg{M: v, Mem: true})
		case result:
			wire = append(wire, wireArg{Back: int(v)})
		default:
			tb.Fatalf("argument %v", a)
		}
	}
	b, err := json.Marshal(struct {
		NR   int
		Args []wireArg
	}{nr, wire})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := s.in.Write(append(b, '\n')); err != nil {
		tb.Fatal(err)
	}
	line, err := s.out.ReadString('\n')
	if err != nil {
		tb.Fatalf("the child died: %v", err)
	}
	var o outcome
	if err := json.Unmarshal([]byte(line), &o); err != nil {
		tb.Fatal(err)
	}
	return o
}

// playCalls makes the calls that come in on stdin.
func playCalls([]string) error {
	in := bufio.NewReader(os.Stdin)
	var values []int64
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil
		}
		var c struct {
			NR   int
			Args []wireArg
		}
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		var a [6]uintptr
		for i, w := range c.Args {
			switch {
			case w.Mem:
				a[i] = uintptr(unsafe.Pointer(unsafe.SliceData(c.Args[i].M)))
			case w.Back != 0:
				a[i] = uintptr(values[len(values)-w.Back])
			default:
				a[i] = uintptr(w.N)
			}
		}
		r, _, errno := syscall.Syscall6(uintptr(c.NR), a[0], a[1], a[2], a[3], a[4], a[5])
		runtime.KeepAlive(c)
		values = append(values, int64(r))
		out, err := json.Marshal(outcome{int64(r), errno})
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", out)
	}
}
