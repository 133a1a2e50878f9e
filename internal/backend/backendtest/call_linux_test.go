// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// callNumber makes the system call of that name. Each argument is
//
//	12, 0644, 0x10    a number
//	WRONLY|TRUNC, AT  constants of the table
//	'text             a pointer to text and a NUL
//	x:00ff            a pointer to these bytes
//	#16               a pointer to that many zero bytes
//	<name, +name      a descriptor of the file name, opened for reading (+: and writing)
//	=name             the same with O_PATH
//
// and the detail is what the call returned. A descriptor that can't be opened
// is the call's failure: it was to be made on that object.
func callNumber(name string, args []string) (string, error) {
	nr, ok := numbers[name]
	if !ok {
		return "", fmt.Errorf("unknown operation %s", name)
	}
	var values [6]uintptr
	var keep [][]byte // what the values point to; Go does not move what is on its heap
	for i, arg := range args {
		v, memory, err := argument(arg)
		if err != nil {
			return "open", err
		}
		values[i] = v
		keep = append(keep, memory)
	}
	r, _, errno := syscall.Syscall6(nr, values[0], values[1], values[2], values[3], values[4], values[5])
	runtime.KeepAlive(keep)
	if errno != 0 {
		return "", errno
	}
	return strconv.Itoa(int(r)), nil
}

func argument(arg string) (uintptr, []byte, error) {
	if arg == "" {
		return 0, nil, errors.New("empty argument")
	}
	switch rest := arg[1:]; arg[0] {
	case '\'':
		return pointer(append([]byte(rest), 0))
	case '#':
		n, err := strconv.Atoi(rest)
		if err != nil {
			return 0, nil, err
		}
		return pointer(make([]byte, n))
	case '<', '+', '=':
		flags := map[byte]int{'<': syscall.O_RDONLY | syscall.O_NONBLOCK, '+': syscall.O_RDWR, '=': oPath}[arg[0]]
		fd, err := syscall.Open(rest, flags, 0)
		return uintptr(fd), nil, err
	case 'x':
		if digits, ok := strings.CutPrefix(arg, "x:"); ok {
			b, err := hex.DecodeString(digits)
			if err != nil {
				return 0, nil, err
			}
			return pointer(b)
		}
	}
	n, err := constant(arg)
	return n, nil, err
}

func pointer(b []byte) (uintptr, []byte, error) {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b))), b, nil
}

// constant reads a number, or names of constants joined by "|".
func constant(text string) (uintptr, error) {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return uintptr(n), nil
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return uintptr(n), nil
	}
	var all uintptr
	for _, name := range strings.Split(text, "|") {
		v, ok := constants[name]
		if !ok {
			n, err := strconv.ParseUint(name, 0, 64)
			if err != nil {
				return 0, fmt.Errorf("unknown constant %s", name)
			}
			v = int(n)
		}
		all |= uintptr(v)
	}
	return all, nil
}

// oPath is O_PATH (asm-generic/fcntl.h).
const oPath = 0x200000

// constants are what arguments may name.
var constants = map[string]int{
	"AT": -100, "EMPTY": 0x1000, "NOFOLLOWLINK": 0x100, "FOLLOWLINK": 0x400, "REMOVEDIR": 0x200,
	"RDONLY": syscall.O_RDONLY, "WRONLY": syscall.O_WRONLY, "RDWR": syscall.O_RDWR, "MODE3": 3,
	"APPEND": syscall.O_APPEND, "CREAT": syscall.O_CREAT, "EXCL": syscall.O_EXCL, "TRUNC": syscall.O_TRUNC,
	"DIRECTORY": syscall.O_DIRECTORY, "NOFOLLOW": syscall.O_NOFOLLOW, "PATH": oPath,
	"TMPFILE": 0x400000 | syscall.O_DIRECTORY, "NONBLOCK": syscall.O_NONBLOCK,
	"FIFO": syscall.S_IFIFO, "SOCK": syscall.S_IFSOCK, "REG": syscall.S_IFREG, "CHR": syscall.S_IFCHR, "BLK": syscall.S_IFBLK,
	"NOREPLACE": 1, "EXCHANGE": 2,
}
