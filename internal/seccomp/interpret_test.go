// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
)

// data is struct seccomp_data without the instruction pointer.
type data struct {
	nr, arch uint32
	args     [6]uint64
}

// words lays the data out as the kernel does, in 32-bit words.
func (d data) words() [16]uint32 {
	w := [16]uint32{0: d.nr, 1: d.arch, 2: 0xdeadbeef, 3: 0xffffffff}
	for i, a := range d.args {
		w[4+2*i], w[5+2*i] = uint32(a), uint32(a>>32)
	}
	return w
}

// interpret runs a filter, and counts the instructions it executes. It knows
// only what seccomp's filters here are made of, and fails on everything else.
func interpret(t testing.TB, code []bpf.RawInstruction, d data) (ret uint32, steps int) {
	w := d.words()
	var acc uint32
	for pc := 0; ; pc++ {
		i := code[pc] // panics when the program runs over its end
		steps++
		taken := false
		switch i.Op {
		case 0x20: // ld [k]
			acc = w[i.K/4]
			continue
		case 0x54: // and #k
			acc &= i.K
			continue
		case 0x05: // ja
			pc += int(i.K)
			continue
		case 0x06: // ret #k
			return i.K, steps
		case 0x15:
			taken = acc == i.K
		case 0x25:
			taken = acc > i.K
		case 0x35:
			taken = acc >= i.K
		case 0x45:
			taken = acc&i.K != 0
		default:
			t.Fatalf("instruction %d has operation %#x, which filters here are not made of", pc, i.Op)
		}
		if taken {
			pc += int(i.Jt)
		} else {
			pc += int(i.Jf)
		}
	}
}

// constantAllow does what the kernel does to find out whether a number is
// allowed whatever its arguments, so that it never runs the filter for it
// (seccomp_is_const_allow, kernel/seccomp.c).
func constantAllow(code []bpf.RawInstruction, arch, nr uint32) bool {
	var acc uint32
	for pc := 0; pc < len(code); pc++ {
		i := code[pc]
		taken := false
		switch i.Op {
		case 0x20:
			switch i.K {
			case offsetNr:
				acc = nr
			case offsetArch:
				acc = arch
			default:
				return false
			}
			continue
		case 0x06:
			return i.K == retAllow
		case 0x05:
			pc += int(i.K)
			continue
		case 0x54:
			acc &= i.K
			continue
		case 0x15:
			taken = acc == i.K
		case 0x35:
			taken = acc >= i.K
		case 0x25:
			taken = acc > i.K
		case 0x45:
			taken = acc&i.K != 0
		default:
			return false
		}
		if taken {
			pc += int(i.Jt)
		} else {
			pc += int(i.Jf)
		}
	}
	return false
}

// machine is the interpreter of the assembler's own package, as a second
// opinion on interpret.
type machine struct {
	vm     *bpf.VM
	packet [64]byte
}

func newMachine(t testing.TB, code []bpf.RawInstruction) *machine {
	list, ok := bpf.Disassemble(code)
	if !ok {
		t.Fatal("the program has instructions that cannot be decoded")
	}
	vm, err := bpf.NewVM(list)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{vm: vm}
}

// run evaluates the filter. The machine reads packets, which are big-endian;
// the kernel reads seccomp_data in its own byte order. So each word is laid
// out big-endian, and the words in the kernel's order.
func (m *machine) run(t testing.TB, d data) uint32 {
	for i, w := range d.words() {
		binary.BigEndian.PutUint32(m.packet[4*i:], w)
	}
	ret, err := m.vm.Run(m.packet[:])
	if err != nil {
		t.Fatal(err)
	}
	return uint32(ret)
}
