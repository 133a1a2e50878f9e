// SPDX-License-Identifier: Apache-2.0

//go:build linux

#include "textflag.h"

// func prlimitNofile(v *[2]uint64) int64
TEXT ·prlimitNofile(SB), NOSPLIT, $0-16
	MOVQ $302, AX // SYS_prlimit64
	MOVQ $0, DI   // this process
	MOVQ $7, SI   // RLIMIT_NOFILE
	MOVQ $0, DX   // no new limit
	MOVQ v+0(FP), R10
	SYSCALL
	MOVQ AX, ret+8(FP)
	RET
