// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// process is an open folder /proc/PID. It goes on to mean the same process:
// when that has ended, reading answers ESRCH or ENOENT, whoever has its number
// by then (proc_pid_lookup in fs/proc/base.c).
type process struct {
	dir int
	pid int
	how origin
}

// origin says what the reader is to the process.
type origin string

const (
	ofSelf    origin = "self"
	ofPID     origin = "pid"
	ofStarted origin = "started"
)

func openProcess(pid int, how origin) (*process, error) {
	name := "/proc/" + strconv.Itoa(pid)
	if how == ofSelf {
		name, pid = "/proc/self", os.Getpid()
	}
	dir, errno := sys.OpenAt(sys.AtCWD, name, oPath|syscall.O_DIRECTORY, 0)
	if errno == 0 {
		return &process{dir: dir, pid: pid, how: how}, nil
	}
	if errors.Is(errno, syscall.ENOENT) {
		return nil, fmt.Errorf("cannot find process %d: it has ended, or /proc does not show it (another pid namespace, or mounted with hidepid): %w", pid, errno)
	}
	return nil, fmt.Errorf("cannot look at process %d: %w", pid, &os.PathError{Op: "open", Path: name, Err: errno})
}

// oPath is O_PATH, which package syscall lacks (linux/fcntl.h).
const oPath = 0x200000

func (p *process) close() { _ = syscall.Close(p.dir) }

// Bounds of what is read of one file.
const (
	mostFile  = 1 << 20
	mostLarge = 16 << 20
)

func (p *process) read(name string) (string, syscall.Errno) {
	b, _, errno := sys.ReadFrom(p.dir, name, mostFile)
	return string(b), errno
}

func (p *process) link(name string) (string, syscall.Errno) { return sys.ReadLinkAt(p.dir, name) }

// pin pins what a magic link of the process leads to.
func (p *process) pin(name string) (int, syscall.Errno) {
	return sys.Pin(p.dir, name, sys.PinJumps)
}

// snapshot is what shows that a process became another one meanwhile.
func (p *process) snapshot() (statusFile, string, error) {
	content, errno := p.read("status")
	if errno != 0 {
		return nil, "", fmt.Errorf("cannot read the status of process %d, it may have ended: %w", p.pid, errno)
	}
	s := parseStatus(content)
	exe, _ := p.link("exe")
	cmdline, _ := p.read("cmdline")
	return s, s.identity() + exe + "\x00" + cmdline, nil
}
