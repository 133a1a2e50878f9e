// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The resources that a policy can limit (getrlimit(2)).
const (
	RlimitAS     = unix.RLIMIT_AS
	RlimitNofile = unix.RLIMIT_NOFILE
	RlimitCPU    = unix.RLIMIT_CPU
	RlimitFsize  = unix.RLIMIT_FSIZE
	RlimitNproc  = unix.RLIMIT_NPROC
)

// UserTasks counts the threads of this process's real user, which is what
// RLIMIT_NPROC is compared with (getrlimit(2)). Only what this view of /proc
// shows is counted.
func UserTasks() (uint64, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return 0, err
	}
	uid := strconv.Itoa(os.Getuid())
	var n uint64
	for _, name := range names {
		if _, err := strconv.Atoi(name); err == nil {
			n += tasksOf(name, uid)
		}
	}
	return n, nil
}

// tasksOf returns the number of threads of a process if it is uid's.
func tasksOf(pid, uid string) uint64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%s/status", pid))
	if err != nil {
		return 0 // it has ended
	}
	field := func(name string) string {
		_, rest, _ := bytes.Cut(status, []byte("\n"+name+":"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if f := bytes.Fields(line); len(f) > 0 {
			return string(f[0])
		}
		return ""
	}
	if field("Uid") != uid {
		return 0
	}
	threads, _ := strconv.ParseUint(field("Threads"), 10, 64)
	return threads
}
