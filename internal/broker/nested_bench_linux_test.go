// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/sys"
	"github.com/ambit-sandbox/ambit/policy"
)

// benchedFileCalls each leave the folder as it was, by two calls or one.
var benchedFileCalls = map[string]func(dir string) func(){
	"create+unlink": func(dir string) func() {
		name := str(dir + "/file")
		return func() {
			fd, _, _ := syscall.Syscall6(syscall.SYS_OPENAT, sysCWD, pointer(name), syscall.O_CREAT|syscall.O_EXCL|syscall.O_WRONLY, 0o644, 0, 0)
			_ = syscall.Close(int(fd))
			_, _, _ = syscall.Syscall(syscall.SYS_UNLINKAT, sysCWD, pointer(name), 0)
		}
	},
	"open to write": func(dir string) func() {
		name := str(dir + "/f")
		return func() {
			fd, _, _ := syscall.Syscall6(syscall.SYS_OPENAT, sysCWD, pointer(name), syscall.O_WRONLY, 0, 0, 0)
			_ = syscall.Close(int(fd))
		}
	},
	"mkdir+rmdir": func(dir string) func() {
		name := str(dir + "/sub")
		return func() {
			_, _, _ = syscall.Syscall(syscall.SYS_MKDIRAT, sysCWD, pointer(name), 0o755)
			_, _, _ = syscall.Syscall(syscall.SYS_UNLINKAT, sysCWD, pointer(name), atRemoveDir)
		}
	},
	"rename": func(dir string) func() {
		a, b := str(dir+"/f"), str(dir+"/g")
		return func() {
			_, _, _ = syscall.Syscall6(syscall.SYS_RENAMEAT, sysCWD, pointer(a), sysCWD, pointer(b), 0, 0)
			a, b = b, a
		}
	},
}

// playFileLoop makes a benched call as often as each line on stdin says.
// Arguments: the call, a folder.
func playFileLoop(args []string) error {
	runtime.LockOSThread()
	call := benchedFileCalls[args[0]](args[1])
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		n, err := strconv.Atoi(in.Text())
		if err != nil {
			return err
		}
		for range n {
			call()
		}
		fmt.Println("done")
	}
	return nil
}

// BenchmarkFileCall compares file calls: native; the floor, a notification
// that is answered at once; in a folder that has a rule of its own; and served
// by the broker.
func BenchmarkFileCall(b *testing.B) {
	for name := range benchedFileCalls {
		f := func(b *testing.B) (project, string) {
			b.Helper()
			p := makeProject(b)
			if err := os.WriteFile(p.dir+"/f", nil, 0o644); err != nil {
				b.Fatal(err)
			}
			return p, p.dir
		}
		b.Run(name+"/native", func(b *testing.B) {
			_, dir := f(b)
			start(b, roleBare, nil, "fileloop", name, dir).loop(b)
		})
		b.Run(name+"/floor", func(b *testing.B) {
			_, dir := f(b)
			fd, err := sys.LandlockCreateRuleset(sys.Ruleset{FS: uint64(probe.FSMakeBlock)}) // as good as none
			if err != nil {
				b.Fatal(err)
			}
			ruleset := os.NewFile(uintptr(fd), "ruleset")
			defer func() { _ = ruleset.Close() }()
			s, listener := startConfined(b, ruleset, classWrite, "fileloop", name, dir)
			floor(b, listener)
			s.loop(b)
		})
		for where, sub := range map[string]string{"rule": "/nat", "brokered": ""} {
			b.Run(name+"/"+where, func(b *testing.B) {
				p, dir := f(b)
				s, _ := startNested(b, hostTree(b, p.rules(policy.BlockedWrite)...), "fileloop", name, dir+sub)
				s.loop(b)
			})
		}
	}
}
