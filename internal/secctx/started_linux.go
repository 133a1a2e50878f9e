// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// GatherStarted describes the process that a command becomes: the program is
// started under the caller's eyes, is stopped by the kernel before its first
// instruction, looked at, and killed. Nothing of it ever runs, the dynamic
// loader neither.
//
// A traced program gains nothing from a setuid bit or file capabilities unless
// the tracer may do as much (cap_bprm_creds_from_file in
// security/commoncap.c); a note says so where it matters.
func GatherStarted(argv, paths []string) (*Context, error) {
	file, err := find(argv[0])
	if err != nil {
		return nil, err
	}
	// A traced process belongs to the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := os.StartProcess(file, argv, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys:   &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot start %s and stop it before it runs; where tracing is refused, look through it (--through): %w", text(argv[0]), err)
	}
	defer func() {
		_ = p.Kill()
		_, _ = p.Wait()
	}()
	var ws syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(p.Pid, &ws, 0, nil); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil && !ws.Stopped() {
		err = fmt.Errorf("it ended with status %#x", int(ws))
	}
	if err == nil {
		// Were this process killed now, the kernel would let a traced one go.
		// The signal of a parent's death does not do: a setuid program drops it.
		err = syscall.PtraceSetOptions(p.Pid, ptraceExitKill)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot stop %s before it runs: %w", text(argv[0]), err)
	}
	c, err := gather(p.Pid, ofStarted, paths)
	if err != nil {
		return nil, err
	}
	c.Taken.Argv = argumentsOf(strings.Join(argv, "\x00"))
	c.Taken.Notes = append(c.Taken.Notes, "the program was started, stopped before its first instruction, looked at and killed: nothing of it ran")
	noteGain(c, file)
	return c, nil
}

// ptraceExitKill is PTRACE_O_EXITKILL (ptrace(2)).
const ptraceExitKill = 0x100000

// find looks a program up in PATH, as execvp(3) does, but takes no entry that
// is relative.
func find(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path, ok := os.LookupEnv("PATH")
	if !ok {
		path = "/bin:/usr/bin" // confstr(3), _CS_PATH
	}
	for dir := range strings.SplitSeq(path, ":") {
		file := dir + "/" + name
		st, err := os.Stat(file)
		if strings.HasPrefix(dir, "/") && err == nil && st.Mode().IsRegular() && syscall.Access(file, 1) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("cannot find the program %q in PATH: %w", name, os.ErrNotExist)
}

// noteGain says that the file would give privileges which a traced program
// does not get.
func noteGain(c *Context, file string) {
	caps, err := sys.EffectiveCaps()
	if err == nil && caps&(1<<sys.CapSysPtrace) != 0 {
		return
	}
	fd, errno := sys.Pin(sys.AtCWD, file, sys.PinJumps)
	if errno != 0 {
		return
	}
	defer closeFD(fd)
	o, _ := sys.Describe(fd)
	n, errno := sys.ReadAttribute(fd, "security.capability", nil)
	if o.Mode&(syscall.S_ISUID|syscall.S_ISGID) != 0 || errno == 0 && n > 0 {
		c.Taken.Notes = append(c.Taken.Notes, "the file has a setuid or setgid bit or capabilities, which don't count while it is traced: run by itself it may have another identity than this")
	}
}
