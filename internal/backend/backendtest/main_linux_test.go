// SPDX-License-Identifier: Apache-2.0

// The probe must hold no descriptor of its own when it lists them: Go keeps
// the files of the control group's CPU limit open otherwise.
//
//go:debug containermaxprocs=0

package backendtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ordinaryID is the uid and gid of the tests when root starts them. It has no
// files and no processes of its own on any distribution.
const ordinaryID = 65533

// roleVariable tells a test process that it was started by another one, and
// as whom: "ordinary" or "root".
const roleVariable = "AMBIT_TEST_ROLE"

// setuidVariable names a copy of this binary that is setuid root.
const setuidVariable = "AMBIT_TEST_SETUID"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == probeArg {
		os.Exit(probeMain(os.Args[2:]))
	}
	flag.Parse()
	code, err := begin(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "backendtest:", err)
		code = 1
	}
	os.Exit(code)
}

func begin(m *testing.M) (int, error) {
	if err := asExpected(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "backendtest-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := errors.Join(os.Chmod(dir, 0o755), findProgram(dir)); err != nil {
		return 1, err
	}
	role := os.Getenv(roleVariable)
	if role == "" && os.Getuid() == 0 {
		return asBoth(dir)
	}
	if err := choose(role); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// choose narrows the tests to those that this process is for.
func choose(role string) error {
	switch {
	case role == "root":
		return flag.Set("test.run", rootTests(flag.Lookup("test.run").Value.String()))
	case unavailable():
		return flag.Set("test.run", "^TestUnavailable")
	}
	skip := "^TestRoot"
	if s := flag.Lookup("test.skip").Value.String(); s != "" {
		skip += "|" + s
	}
	return flag.Set("test.skip", skip)
}

// findProgram sees that AMBIT_BIN names the program.
func findProgram(dir string) error {
	if name := os.Getenv("AMBIT_BIN"); name != "" {
		name, err := filepath.Abs(name)
		return errors.Join(err, os.Setenv("AMBIT_BIN", name))
	}
	name := filepath.Join(dir, "ambit")
	build := exec.Command("go", "build", "-o", name, "github.com/ambit-sandbox/ambit/cmd/ambit")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build ambit: %w\n%s", err, out)
	}
	return os.Setenv("AMBIT_BIN", name)
}

// asBoth runs the tests as an ordinary user, and those for root as root.
func asBoth(dir string) (int, error) {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return 1, err
	}
	// The go command keeps test binaries where only their owner gets at them.
	name := filepath.Join(dir, "backendtest.test")
	setuid := filepath.Join(dir, "setuid.test")
	if err := errors.Join(os.WriteFile(name, self, 0o755), os.WriteFile(setuid, self, 0o755), os.Chmod(setuid, 0o755|os.ModeSetuid)); err != nil {
		return 1, err
	}
	code := 0
	for _, role := range []string{"ordinary", "root"} {
		if role == "root" && rootTests(flag.Lookup("test.run").Value.String()) == "" {
			continue
		}
		cmd := exec.Command(name, ownArgs()...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.Env = append(os.Environ(), roleVariable+"="+role, setuidVariable+"="+setuid)
		if role == "ordinary" {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinaryID, Gid: ordinaryID, Groups: []uint32{ordinaryID - 1}}}
		}
		fmt.Printf("=== as %s\n", role)
		if err := cmd.Run(); err != nil {
			fmt.Printf("=== as %s: %v\n", role, err)
			code = 1
		}
	}
	return code, nil
}

// ownArgs are the flags of this process, without those that name files which
// only one process can write.
func ownArgs() []string {
	var args []string
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.testlogfile=") && !strings.HasPrefix(a, "-test.gocoverdir=") {
			args = append(args, a)
		}
	}
	return args
}

// rootTests turns a pattern of test names into one that selects tests for
// root only; empty if it selects none.
func rootTests(pattern string) string {
	switch {
	case pattern == "":
		return "^TestRoot"
	case strings.Contains(pattern, "Root"):
		return pattern
	}
	return ""
}
