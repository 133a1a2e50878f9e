// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// fileOperations are those on files that take more than one call.
func fileOperations() map[string]operation {
	return map[string]operation{
		"get":      getFile,
		"put":      putFile,
		"list":     listFolder,
		"run":      runFile,
		"copy":     copyFile,
		"through":  openThrough,
		"map":      mapWrite,
		"nameless": makeNameless,
		"overopen": overOpen,
		"getat":    getAt,
		"stat":     statFile,

		"chmod-through": chmodThrough,
		"get-mode-3":    getModeThree,
		"watch":         watch,
		"memory":        memoryMode,
		"pipe-mode":     pipeMode,
	}
}

// getFile NAME: open for reading, and read.
func getFile(a []string) (string, error) {
	fd, err := syscall.Open(a[0], syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	return readOut(fd)
}

func readOut(fd int) (string, error) {
	f := os.NewFile(uintptr(fd), "")
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(b), err
}

// putFile NAME FLAGS TEXT: open, and write.
func putFile(a []string) (string, error) {
	flags, err := constant(a[1])
	if err != nil {
		return "", err
	}
	fd, err := syscall.Open(a[0], int(flags), 0o644)
	if err != nil {
		return "", err
	}
	defer func() { _ = syscall.Close(fd) }()
	n, err := syscall.Write(fd, []byte(a[2]))
	return strconv.Itoa(n), err
}

// listFolder NAME: the names in a folder.
func listFolder(a []string) (string, error) {
	f, err := os.Open(a[0])
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	names, err := f.Readdirnames(-1)
	return strings.Join(names, " "), err
}

// runFile NAME ARG...: execute, and what it printed. A status other than 0 is
// an error of its own.
func runFile(a []string) (string, error) {
	cmd := exec.Command(a[0], a[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = errors.New(exit.String())
	}
	return string(out), err
}

// copyFile FROM TO: a new executable file.
func copyFile(a []string) (string, error) {
	b, err := os.ReadFile(a[0])
	if err != nil {
		return "", err
	}
	return "", os.WriteFile(a[1], b, 0o755)
}

// openThrough NAME FORM FLAGS TEXT: pin the object with O_PATH, open it again
// under the name that FORM makes of the descriptor's number (its "N"), and
// write TEXT; with FLAGS RDONLY, read.
func openThrough(a []string) (string, error) {
	fd, err := syscall.Open(a[0], oPath, 0)
	if err != nil {
		return "pin", err
	}
	defer func() { _ = syscall.Close(fd) }()
	name := strings.Replace(a[1], "N", strconv.Itoa(fd), 1)
	if a[2] == "RDONLY" {
		return getFile([]string{name})
	}
	return putFile([]string{name, a[2], a[3]})
}

// makeNameless FOLDER FLAGS NAME: a file without a name (O_TMPFILE), and
// then the name for it.
func makeNameless(a []string) (string, error) {
	flags, err := constant(a[1] + "|TMPFILE")
	if err != nil {
		return "", err
	}
	fd, err := syscall.Open(a[0], int(flags), 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = syscall.Close(fd) }()
	if _, err := syscall.Write(fd, []byte("new")); err != nil {
		return "write", err
	}
	// linkat(2), "AT_SYMLINK_FOLLOW": the way for those without CAP_DAC_READ_SEARCH.
	return callNumber("linkat", []string{"AT", "'/proc/self/fd/" + strconv.Itoa(fd), "AT", "'" + a[2], "FOLLOWLINK"})
}

// mapWrite NAME: write through a shared mapping.
func mapWrite(a []string) (string, error) {
	fd, err := syscall.Open(a[0], syscall.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = syscall.Close(fd) }()
	m, err := syscall.Mmap(fd, 0, 4, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return "mmap", err
	}
	m[0] = 'C'
	return "", syscall.Munmap(m)
}

// overOpen NAME FLAGS: openat2(2), whose flags are in memory.
func overOpen(a []string) (string, error) {
	flags, err := constant(a[1])
	if err != nil {
		return "", err
	}
	name, err := syscall.BytePtrFromString(a[0])
	if err != nil {
		return "", err
	}
	how := [3]uint64{uint64(flags)}
	if flags&syscall.O_CREAT != 0 {
		how[1] = 0o644
	}
	const cwd = ^uintptr(99) // AT_FDCWD
	fd, _, errno := syscall.Syscall6(numbers["openat2"], cwd, uintptr(unsafe.Pointer(name)),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return "", errno
	}
	return "", syscall.Close(int(fd))
}

// getAt FOLDER NAME: open NAME from a descriptor of FOLDER.
func getAt(a []string) (string, error) {
	dir, err := syscall.Open(a[0], oPath|syscall.O_DIRECTORY, 0)
	if err != nil {
		return "pin", err
	}
	defer func() { _ = syscall.Close(dir) }()
	fd, err := syscall.Openat(dir, a[1], syscall.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	return readOut(fd)
}

// statFile NAME: what stays open to everybody, the existence and the mode.
func statFile(a []string) (string, error) {
	var st syscall.Stat_t
	err := syscall.Lstat(a[0], &st)
	return strconv.FormatUint(uint64(st.Mode), 8), err
}

// chmodThrough NAME FORM MODE: as openThrough.
func chmodThrough(a []string) (string, error) {
	fd, err := syscall.Open(a[0], oPath, 0)
	if err != nil {
		return "pin", err
	}
	defer func() { _ = syscall.Close(fd) }()
	return callNumber("fchmodat", []string{"AT", "'" + strings.Replace(a[1], "N", strconv.Itoa(fd), 1), a[2]})
}

// memoryMode MODE: a memory file belongs to no folder, but to its maker.
func memoryMode(a []string) (string, error) {
	name := []byte("m\x00")
	fd, _, errno := syscall.Syscall(numbers["memfd_create"], uintptr(unsafe.Pointer(&name[0])), 0, 0)
	if errno != 0 {
		return "memfd_create", errno
	}
	return changedMode(int(fd), a[0])
}

// pipeMode MODE: so does a pipe.
func pipeMode(a []string) (string, error) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		return "pipe", err
	}
	return changedMode(fds[0], a[0])
}

func changedMode(fd int, mode string) (string, error) {
	m, err := constant(mode)
	if err != nil {
		return "", err
	}
	if err := syscall.Fchmod(fd, uint32(m)); err != nil {
		return "", err
	}
	var st syscall.Stat_t
	err = syscall.Fstat(fd, &st)
	return strconv.FormatUint(uint64(st.Mode&0o7777), 8), err
}
