// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
)

// Program is a compiled filter. It does not change after Compile.
type Program struct {
	raw []bpf.RawInstruction
}

// Len is the number of instructions. The kernel takes 4096 at most
// (BPF_MAXINSNS).
func (p *Program) Len() int { return len(p.raw) }

// Instructions returns a copy of the instructions.
func (p *Program) Instructions() []bpf.RawInstruction {
	return append([]bpf.RawInstruction(nil), p.raw...)
}

// Bytes returns the instructions as an array of the kernel's struct
// sock_filter, eight bytes each, in the byte order of both supported
// architectures, which is little-endian. It is what a process that installs
// the filter points its sock_fprog at.
func (p *Program) Bytes() []byte {
	b := make([]byte, 0, 8*len(p.raw))
	for _, i := range p.raw {
		b = binary.LittleEndian.AppendUint16(b, i.Op)
		b = append(b, i.Jt, i.Jf)
		b = binary.LittleEndian.AppendUint32(b, i.K)
	}
	return b
}
