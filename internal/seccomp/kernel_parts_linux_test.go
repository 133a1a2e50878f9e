// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// notifyPart installs a filter with a listener on one thread, answers from
// another, and makes calls that only the listener can have answered.
func notifyPart() {
	runtime.LockOSThread()
	file := temporary("probe")
	const answer = syscall.EXDEV
	probes := slices.DeleteFunc(metadataProbes(answer, address(file)), func(p probe) bool {
		return p.name == "setxattrat" || p.name == "file_setattr"
	})
	probes = append(probes,
		probe{name: "connect", do: raw("connect", bad, 0, 0), want: answer},
		probe{name: "setxattrat", do: raw("setxattrat", bad, bad, bad, bad, bad, 0), want: syscall.ENOSYS},
		probe{name: "FS_IOC_SETFLAGS", do: raw("ioctl", bad, 0x40086602, 0), want: syscall.EPERM},
		probe{name: "faccessat", do: raw("faccessat", bad, bad, 0), want: unchanged})
	probes = append(probes, readProbes(answer, answer, syscall.ENOSYS, address(file))...)
	before := make([]syscall.Errno, len(probes))
	for i, p := range probes {
		before[i] = p.do()
	}
	program, err := Compile(runtime.GOARCH, Config{Metadata: Notify, UnixConnect: Notify, Reads: Notify, Signals: Allow})
	if err != nil {
		panic(err)
	}
	noNewPrivs()
	flags := uintptr(sys.SeccompNewListener | sys.SeccompWaitKillableRecv)
	if err := sys.SeccompTryFlags(flags); errors.Is(err, syscall.EINVAL) {
		flags = sys.SeccompNewListener // Linux before 5.19
	}
	listener, err := sys.InstallFilter(program.Bytes(), flags)
	if err != nil {
		panic(err)
	}
	go answerAll(uintptr(listener), answer)
	for i, p := range probes {
		want := p.want
		if want == unchanged {
			want = before[i]
		}
		if got := p.do(); got != want || before[i] == answer {
			fmt.Printf("%s: %v under the filter, want %v (%v without)\n", p.name, got, want, before[i])
		}
	}
	fmt.Println("done", len(probes))
}

// answerAll answers each notification with an errno, until the process ends.
// A signal, as the runtime sends them to preempt, may interrupt either side at
// any time: the caller is then gone (ENOENT), and calls again (seccomp_unotify(2),
// SECCOMP_IOCTL_NOTIF_RECV).
func answerAll(listener uintptr, errno syscall.Errno) {
	const receive, send = 0xc0502100, 0xc0182101 // SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND
	for {
		// struct seccomp_notif: id, pid and flags, seccomp_data of 64 bytes.
		var request [10]uint64
		_, _, err := syscall.Syscall(syscall.SYS_IOCTL, listener, receive, uintptr(unsafe.Pointer(&request)))
		if err == syscall.EINTR || err == syscall.ENOENT {
			continue
		}
		if err != 0 {
			panic(err)
		}
		// struct seccomp_notif_resp: id, value, error and flags.
		response := [3]uint64{request[0], 0, uint64(uint32(-int32(errno)))}
		for err = syscall.EINTR; err == syscall.EINTR; {
			_, _, err = syscall.Syscall(syscall.SYS_IOCTL, listener, send, uintptr(unsafe.Pointer(&response)))
		}
		if err != 0 && err != syscall.ENOENT {
			panic(err)
		}
	}
}

// TestOtherEntrances executes programs that call the kernel by its two other
// numberings on amd64, with and without the filter.
func TestOtherEntrances(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skipf("%s has no second numbering for 64-bit programs", runtime.GOARCH)
	}
	for _, test := range []struct {
		name string
		code []byte
	}{
		{"int 0x80", []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80}},           // mov eax, getpid of i386
		{"x32", []byte{0xb8, 39, 0, 0, 0x40, 0x0f, 0x05}},             // mov eax, getpid of x32
		{"native", []byte{0xb8, 39, 0, 0, 0, 0x0f, 0x05}},             // mov eax, getpid
		{"above the newest", []byte{0xb8, 0xd8, 1, 0, 0, 0x0f, 0x05}}, // mov eax, 472
	} {
		t.Run(test.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, executable(test.code), 0o700); err != nil {
				t.Fatal(err)
			}
			without := exitCode(exec.CommandContext(t.Context(), program).Run())
			out := runPart(t, "exec", program)
			want := fmt.Sprintf("exit %d\n", 38)
			switch {
			case test.name == "native":
				want = "exit 1\n"
				if without != 1 {
					t.Errorf("getpid failed without the filter: exit %d", without)
				}
			case without == 38 || without == -1:
				t.Logf("no control: this kernel itself refuses %s: exit %d", test.name, without)
				if without == -1 {
					want = "exit -1\n"
				}
			case without != 1:
				t.Errorf("exit %d without the filter, want 1", without)
			}
			if out != want {
				t.Errorf("under the filter: %q, want %q", out, want)
			}
		})
	}
}

func execPart() {
	install(loosest)
	fmt.Println("exit", exitCode(exec.Command(os.Args[1]).Run()))
}

// exitCode is -1 for a program that a signal ended.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		panic(err)
	}
	return 0
}

// executable is the smallest program for amd64 that runs code, which leaves an
// errno or a result in eax, and exits with 38 for ENOSYS, otherwise with 1.
func executable(code []byte) []byte {
	code = append(slices.Clone(code),
		0xf7, 0xd8, // neg eax
		0x83, 0xf8, 38, // cmp eax, 38
		0xbf, 38, 0, 0, 0, // mov edi, 38
		0x74, 0x05, // je +5
		0xbf, 1, 0, 0, 0, // mov edi, 1
		0xb8, 0xe7, 0, 0, 0, // mov eax, exit_group
		0x0f, 0x05, // syscall
	)
	const base, header = 0x400000, 64 + 56
	size := uint64(header + len(code))
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: ident, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Entry: base + header, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
			Vaddr: base, Paddr: base, Filesz: size, Memsz: size, Align: 0x1000,
		},
		code,
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}
